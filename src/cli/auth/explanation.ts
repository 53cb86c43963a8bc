/** Puts together what the server says and what its roles and bindings say. */
import { nodeIdentity } from "../../api/node-identity.ts";
import type { Question } from "./question.ts";
import type { RbacWays } from "./rbac-ways.ts";
import type { Verdict } from "./server.ts";

/** What could not be found out stands as the server's complaint. */
export interface Explanation {
  readonly question: Question;
  readonly verdict: Verdict | { readonly problem: string };
  readonly rbac: RbacWays | { readonly problem: string };
  /** For whoever asked. */
  readonly notes: readonly string[];
}

/** The server's verdict, or what its roles and bindings come to where it gives none. */
export function isAllowed({ verdict, rbac }: Explanation): boolean {
  return "problem" in verdict ? !("problem" in rbac) && rbac.allowing.length > 0 : verdict.allowed;
}

/** Who decided. Reviews do not say it; it follows from the reason, from who asks, and from the roles. */
export function decidedBy({ question: { user }, verdict, rbac }: Explanation): { readonly authorizer: string; readonly how: string } {
  if ("problem" in verdict)
    return { authorizer: "unknown", how: "the server was not to be asked; what follows is from its roles and bindings alone" };
  const { allowed, denied, reason } = verdict;
  if (denied) return { authorizer: "Webhook", how: "an authorizer denied it, which only webhooks do" };
  if (!allowed) return { authorizer: "none", how: "no authorizer allowed it" };
  if (reason.startsWith("RBAC: ")) return { authorizer: "RBAC", how: "a role that is bound to the user" };
  if (user.groups.includes("system:masters"))
    return { authorizer: "system:masters", how: "members of this group may do all, before any authorizer is asked" };
  if (reason !== "") return { authorizer: "other", how: "an authorizer with reasons of its own, such as a webhook" };
  const byRoles = !("problem" in rbac) && rbac.allowing.length > 0;
  if (nodeIdentity(user) !== undefined) return { authorizer: "Node", how: "the node authorizer, or one that gives no reasons either" };
  return { authorizer: "other", how: `AlwaysAllow, ABAC or a webhook, which gave no reason${byRoles ? "; RBAC would allow it, too" : ""}` };
}
