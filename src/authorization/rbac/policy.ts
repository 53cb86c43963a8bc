/**
 * Roles, and bindings indexed by subject, so that a decision reads the bindings of one user only.
 * Source: Kubernetes docs, Using RBAC Authorization, API objects.
 */
import { serviceAccountUser } from "../../apimachinery/service-account.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { PolicyRule } from "../contract.ts";

/** A Role or ClusterRole. */
export interface Role {
  readonly name: string;
  /** Empty for a ClusterRole. */
  readonly namespace: string;
  readonly rules: readonly PolicyRule[];
}

/** A subject of a binding. */
export interface Subject {
  readonly kind: string;
  readonly name: string;
  /** The namespace of a service account; empty for the namespace of the binding. */
  readonly namespace: string;
}

/** A RoleBinding or ClusterRoleBinding. */
export interface Binding {
  readonly name: string;
  /** Empty for a ClusterRoleBinding. */
  readonly namespace: string;
  readonly subjects: readonly Subject[];
  readonly roleRef: { readonly kind: string; readonly name: string };
}

/** A binding that applies to a user, with the subject that matches the user. */
export interface Grant {
  readonly binding: Binding;
  readonly subject: Subject;
}

/** The grants in one namespace or in the cluster, by subject name. Service accounts are users. */
interface Scope {
  readonly users: Map<string, Grant[]>;
  readonly groups: Map<string, Grant[]>;
}

/** The indexed roles and bindings. */
export class Policy {
  /** By storage key. */
  readonly #bindings = new Map<string, Binding>();
  readonly #roles = new Map<string, Role>();
  /** By namespace (empty for ClusterRoles), then by name. */
  readonly #byName = new Map<string, Map<string, Role>>();
  /** By namespace; empty for ClusterRoleBindings. */
  readonly #scopes = new Map<string, Scope>();
  #rolesVersion = 0;

  /** Incremented by every change of a role. */
  get rolesVersion(): number {
    return this.#rolesVersion;
  }

  /** @param key storage key @param role undefined when the role is deleted */
  setRole(key: string, role: Role | undefined): void {
    this.#rolesVersion += 1;
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

  /** @param key storage key @param binding undefined when the binding is deleted */
  setBinding(key: string, binding: Binding | undefined): void {
    const old = this.#bindings.get(key);
    if (old !== undefined) this.#removeFromIndex(old);
    if (binding === undefined) {
      this.#bindings.delete(key);
      return;
    }
    this.#bindings.set(key, binding);
    this.#addToIndex(binding);
  }

  /** The storage keys of all bindings. */
  bindingKeys(): Iterable<string> {
    return this.#bindings.keys();
  }

  /** The storage keys of all roles. */
  roleKeys(): Iterable<string> {
    return this.#roles.keys();
  }

  /** @param namespace empty for a ClusterRole */
  role(namespace: string, name: string): Role | undefined {
    return this.#byName.get(namespace)?.get(name);
  }

  /**
   * Yields the grants of the user in the cluster, then in the namespace unless it is empty.
   * A binding is yielded once for its subjects of the user and once for those of each group.
   */
  *grants(user: UserInfo, namespace: string): Generator<Grant, void, void> {
    for (const grants of this.grantLists(user, namespace)) yield* grants;
  }

  /** The lists of {@link grants}: of each subject that matches the user. A list that loses a grant is replaced. */
  grantLists({ name, groups }: UserInfo, namespace: string): readonly (readonly Grant[])[] {
    const lists: (readonly Grant[])[] = [];
    const add = (grants: readonly Grant[] | undefined): void => {
      if (grants !== undefined) lists.push(grants);
    };
    for (const scope of [this.#scopes.get(""), namespace === "" ? undefined : this.#scopes.get(namespace)]) {
      if (scope === undefined) continue;
      add(scope.users.get(name));
      for (const group of groups) add(scope.groups.get(group));
    }
    return lists;
  }

  #addToIndex(binding: Binding): void {
    let scope = this.#scopes.get(binding.namespace);
    if (scope === undefined) {
      scope = { users: new Map(), groups: new Map() };
      this.#scopes.set(binding.namespace, scope);
    }
    for (const subject of binding.subjects) {
      const place = placeOf(scope, subject, binding.namespace);
      if (place === undefined) continue;
      const grants = place.grants.get(place.name) ?? [];
      if (grants.at(-1)?.binding === binding) continue; // Repeated subjects have the same answer.
      grants.push({ binding, subject });
      place.grants.set(place.name, grants);
    }
  }

  #removeFromIndex(binding: Binding): void {
    const scope = this.#scopes.get(binding.namespace);
    if (scope === undefined) return; // No binding of the namespace has subjects.
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

/** @returns undefined for a subject that matches no user, such as one of an unknown kind */
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

/**
 * Finds the role of a binding.
 *
 * @param missingAs the resource that the message about a missing role names; the kind of the role
 *   by default
 * @returns upstream's error message when the role does not exist
 */
export function boundRole(policy: Policy, { roleRef, namespace }: Binding, missingAs?: string): Role | string {
  const { kind, name } = roleRef;
  if (kind !== "Role" && kind !== "ClusterRole") return `unsupported role reference kind: ${quoteGo(kind)}`;
  const resource = missingAs ?? kind.toLowerCase();
  return (
    policy.role(kind === "Role" ? namespace : "", name) ??
    `${resource}.rbac.authorization.k8s.io ${quoteGo(name)} not found`
  );
}
