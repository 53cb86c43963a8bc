/**
 * Roles and bindings, indexed by whom a binding is for, so that a decision looks at the bindings of one user only, however many there are.
 * Source: access-control §5.3, "RBAC".
 */
import { serviceAccountUser } from "../../api/service-account.ts";
import type { UserInfo } from "../../api/user.ts";
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

/** Grants of one scope, by subject. */
type Scope = Map<string, Grant[]>;

export class Policy {
  /** By key in the store. */
  readonly #bindings = new Map<string, Binding>();
  readonly #roles = new Map<string, Role>();
  /** By namespace and name. */
  readonly #byName = new Map<string, Role>();
  /** By namespace; empty for all the cluster. */
  readonly #scopes = new Map<string, Scope>();

  /** @param key of the role in the store @param role undefined when it is gone */
  setRole(key: string, role: Role | undefined): void {
    const old = this.#roles.get(key);
    if (old !== undefined) this.#byName.delete(roleKey(old.namespace, old.name));
    if (role === undefined) {
      this.#roles.delete(key);
      return;
    }
    this.#roles.set(key, role);
    this.#byName.set(roleKey(role.namespace, role.name), role);
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
    return this.#byName.get(roleKey(namespace, name));
  }

  /** What is granted to the user: in all the cluster, and then in the namespace, when one is given. A binding may come twice. */
  *grants(user: UserInfo, namespace: string): Generator<Grant, void, void> {
    yield* this.#grantsOf(user, "");
    if (namespace !== "") yield* this.#grantsOf(user, namespace);
  }

  *#grantsOf({ name, groups }: UserInfo, namespace: string): Generator<Grant, void, void> {
    const scope = this.#scopes.get(namespace);
    if (scope === undefined) return;
    yield* scope.get(userKey(name)) ?? none;
    for (const group of groups) yield* scope.get(groupKey(group)) ?? none;
  }

  #index(binding: Binding): void {
    let scope = this.#scopes.get(binding.namespace);
    if (scope === undefined) {
      scope = new Map();
      this.#scopes.set(binding.namespace, scope);
    }
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace);
      if (key === undefined) continue;
      const grants = scope.get(key);
      const grant = { binding, subject };
      if (grants === undefined) scope.set(key, [grant]);
      else grants.push(grant);
    }
  }

  #forget(binding: Binding): void {
    const scope = this.#scopes.get(binding.namespace) as Scope;
    for (const subject of binding.subjects) {
      const key = subjectKey(subject, binding.namespace);
      const rest = key === undefined ? undefined : scope.get(key)?.filter((grant) => grant.binding !== binding);
      if (key === undefined || rest === undefined) continue;
      if (rest.length === 0) scope.delete(key);
      else scope.set(key, rest);
    }
    if (scope.size === 0) this.#scopes.delete(binding.namespace);
  }
}

const none: readonly Grant[] = [];

function roleKey(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}

function userKey(name: string): string {
  return `u:${name}`;
}

function groupKey(name: string): string {
  return `g:${name}`;
}

/** @returns undefined for a subject that is nobody */
function subjectKey({ kind, name, namespace }: Subject, bindingNamespace: string): string | undefined {
  if (kind === "User") return userKey(name);
  if (kind === "Group") return groupKey(name);
  const home = namespace === "" ? bindingNamespace : namespace;
  return kind === "ServiceAccount" && home !== "" ? userKey(serviceAccountUser(home, name)) : undefined;
}
