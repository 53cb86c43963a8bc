/**
 * The bootstrap policy as data. Lists are words with blanks between; `core` stands for the group without a name, and a word `a@B` for `a` while the
 * gate B is on.
 */

interface Gated {
  /** Feature gates, all of which must be on, or it is not there. */
  readonly gates?: string;
}

export type RuleData = Gated &
  (
    | { readonly verbs: string; readonly groups: string; readonly resources: string; readonly names?: string }
    | { readonly verbs: string; readonly urls: string }
  );

export interface RoleData extends Gated {
  readonly name: string;
  /** None for a ClusterRole. */
  readonly namespace?: string;
  /** Roles for people that collect the rules of this one. */
  readonly aggregatesTo?: string;
  /** The rules are those of all roles that aggregate to this. */
  readonly collects?: string;
  readonly rules: readonly RuleData[];
}

export interface BindingData extends Gated {
  readonly name: string;
  /** None for a ClusterRoleBinding, which binds a ClusterRole; with one, the Role of that namespace. */
  readonly namespace?: string;
  readonly role: string;
  /** `Group system:masters`, `User x`, `ServiceAccount namespace/name` */
  readonly subjects: readonly string[];
}
