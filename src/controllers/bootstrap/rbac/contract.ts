/**
 * The bootstrap policy as data. Lists are words separated by spaces. `core` represents the group
 * with the empty name. A word `a@B` represents `a` if the feature gate B is on.
 * Source: Kubernetes docs, "Using RBAC Authorization", heading "Default roles and role bindings".
 */

interface Gated {
  /** The entry is part of the policy only if all these feature gates are on. */
  readonly gates?: string;
}

/** A rule for resources or for URLs. */
export type RuleData = Gated &
  (
    | { readonly verbs: string; readonly groups: string; readonly resources: string; readonly names?: string }
    | { readonly verbs: string; readonly urls: string }
  );

/** A Role or ClusterRole. */
export interface RoleData extends Gated {
  readonly name: string;
  /** Undefined for a ClusterRole. */
  readonly namespace?: string;
  /** User-facing roles that include the rules of this one. */
  readonly aggregatesTo?: string;
  /** The aggregated role: its rules are those of all roles with this name in `aggregatesTo`. */
  readonly collects?: string;
  readonly rules: readonly RuleData[];
}

/** A RoleBinding or ClusterRoleBinding. */
export interface BindingData extends Gated {
  readonly name: string;
  /**
   * The namespace of the RoleBinding and its Role; undefined for a ClusterRoleBinding, which binds
   * a ClusterRole.
   */
  readonly namespace?: string;
  readonly role: string;
  /** `Group system:masters`, `User x`, `ServiceAccount namespace/name` */
  readonly subjects: readonly string[];
}
