/** The bootstrap policy as data. Lists are words with blanks between; `core` stands for the group without a name. */

export type RuleData =
  | { readonly verbs: string; readonly groups: string; readonly resources: string; readonly names?: string }
  | { readonly verbs: string; readonly urls: string };

export interface RoleData {
  readonly name: string;
  /** None for a ClusterRole. */
  readonly namespace?: string;
  /** Roles for people that collect the rules of this one. */
  readonly aggregatesTo?: string;
  /** The rules are those of all roles that aggregate to this. */
  readonly collects?: string;
  readonly rules: readonly RuleData[];
}

export interface BindingData {
  readonly name: string;
  /** None for a ClusterRoleBinding, which binds a ClusterRole; with one, the Role of that namespace. */
  readonly namespace?: string;
  readonly role: string;
  /** `Group system:masters`, `User x`, `ServiceAccount namespace/name` */
  readonly subjects: readonly string[];
}
