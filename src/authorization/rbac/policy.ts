/**
 * Roles and bindings, indexed by whom a binding is for, so that a decision looks at the bindings of one user only, however many there are.
 * Source: access-control §5.3, "RBAC".
 */
import { serviceAccountUser } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { PolicyRule } from "./rule.ts";

export interface Role {
  readonly name: string;
  /** Empty for a ClusterRole. */
  readonly namespace: string;
  readonly rules: readonly PolicyRule[];
}

export interface Subject {
  readonly kind: string;
  readonly name: string;
  /** Of a service account; empty means the binding's. */
  readonly namespace: string;
}

export interface Binding {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly subjects: readonly Subject[];
  readonly roleRef: { readonly kind: string; readonly name: string };
}

/** A binding that is for a user, and by which of its subjects. */
export interface Grant {
  readonly binding: Binding;
  readonly subject: Subject;
}

/** Grants of one scope, by the name of who they are for; service accounts are users. */
interface Scope {
  readonly users: Map<string, Grant[]>;
  readonly groups: Map<string, Grant[]>;
}

export class Policy {
  /** By key in the store. */
  readonly #bindings = new Map<string, Binding>();
  readonly #roles = new Map<string, Role>();
  /** By namespace, empty for ClusterRoles, and by name. */
  readonly #byName = new Map<string, Map<string, Role>>();
  /** By namespace; empty for all the cluster. */
  readonly #scopes = new Map<string, Scope>();

  /** @param key of the role in the store @param role undefined when it is gone */
  setRole(key: string, role: Role | undefined): void {
    const old = this.#roles.get(key);
    if (old !== undefined) this.#byName.get(old.namespace)?.delete(old.name);
    if (role === undefined) {
      this.#roles.delete(key);
      return;
    }
    this.#roles.set(key, role);
    const named = this.#byName.get(role.namespace) ?? new Map<string, Role>();
    this.#byName.set(role.namespace, named.set(role.name, role));
  }

  /** @param key of the binding in the store @param binding undefined when it is gone */
  setBinding(key: string, binding: Binding | undefined): void {
    const old = this.#bindings.get(key);
    if (old !== undefined) this.#forget(old);
    if (binding === undefined) {
      this.#bindings.delete(key);
      return;
    }
    this.#bindings.set(key, binding);
    this.#index(binding);
  }

  bindingKeys(): Iterable<string> {
    return this.#bindings.keys();
  }

  roleKeys(): Iterable<string> {
    return this.#roles.keys();
  }

  /** @param namespace empty for a ClusterRole */
  role(namespace: string, name: string): Role | undefined {
    return this.#byName.get(namespace)?.get(name);
  }

  /** What is granted to the user: in all the cluster, and then in the namespace, when one is given. A binding may come twice. */
  *grants({ name, groups }: UserInfo, namespace: string): Generator<Grant, void, void> {
    for (const scope of [this.#scopes.get(""), namespace === "" ? undefined : this.#scopes.get(namespace)]) {
      if (scope === undefined) continue;
      yield* scope.users.get(name) ?? none;
      for (const group of groups) yield* scope.groups.get(group) ?? none;
    }
  }

  #index(binding: Binding): void {
    let scope = this.#scopes.get(binding.namespace);
    if (scope === undefined) {
      scope = { users: new Map(), groups: new Map() };
      this.#scopes.set(binding.namespace, scope);
    }
    for (const subject of binding.subjects) {
      const place = placeOf(scope, subject, binding.namespace);
      if (place === undefined) continue;
      const grants = place.grants.get(place.name) ?? [];
      grants.push({ binding, subject });
      place.grants.set(place.name, grants);
    }
  }

  #forget(binding: Binding): void {
    const scope = this.#scopes.get(binding.namespace);
    if (scope === undefined) return; // Nobody is bound there any more.
    for (const subject of binding.subjects) {
      const place = placeOf(scope, subject, binding.namespace);
      const rest = place?.grants.get(place.name)?.filter((grant) => grant.binding !== binding);
      if (place === undefined || rest === undefined) continue;
      if (rest.length === 0) place.grants.delete(place.name);
      else place.grants.set(place.name, rest);
    }
    if (scope.users.size === 0 && scope.groups.size === 0) this.#scopes.delete(binding.namespace);
  }
}

const none: readonly Grant[] = [];

/** @returns undefined for a subject that is nobody */
function placeOf(
  scope: Scope,
  { kind, name, namespace }: Subject,
  bindingNamespace: string,
): { grants: Map<string, Grant[]>; name: string } | undefined {
  if (kind === "User") return { grants: scope.users, name };
  if (kind === "Group") return { grants: scope.groups, name };
  const home = namespace === "" ? bindingNamespace : namespace;
  return kind === "ServiceAccount" && home !== ""
    ? { grants: scope.users, name: serviceAccountUser(home, name) }
    : undefined;
}
