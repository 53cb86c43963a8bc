/** Puts together what the server says and what its roles and bindings say. */
import { nodeIdentity } from "../../apimachinery/node-identity.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { Decider } from "./counted-deciders.ts";
import type { Question } from "./question.ts";
import type { RbacWays } from "./rbac-ways.ts";
import type { Verdict } from "./server.ts";

/** What could not be found out stands as the server's complaint. */
export interface Explanation {
  readonly question: Question;
  readonly verdict: Verdict | { readonly problem: string };
  readonly rbac: RbacWays | { readonly problem: string };
  /** Authorizers that may have decided, by the server's own counts; none where it is plain, or the server does not tell. */
  readonly counted: readonly Decider[];
  /** For whoever asked. */
  readonly notes: readonly string[];
}

/** The server's verdict, or what its roles and bindings come to where it gives none. */
export function isAllowed({ verdict, rbac }: Explanation): boolean {
  return "problem" in verdict ? !("problem" in rbac) && rbac.allowing.length > 0 : verdict.allowed;
}

/** What RBAC's reasons begin with. */
export const rbacReason = "RBAC: ";

interface DecidedBy {
  readonly authorizer: string;
  readonly how: string;
}

/** Who decided. Reviews do not say it; it follows from the reason, from who asks, and from what the server counts. */
export function decidedBy({ question: { user }, verdict, counted }: Explanation): DecidedBy {
  if ("problem" in verdict)
    return {
      authorizer: "unknown",
      how: "the server was not to be asked; what follows is from its roles and bindings alone",
    };
  const { allowed, denied, reason } = verdict;
  if (!allowed && !denied) return { authorizer: "none", how: "no authorizer allowed it" };
  if (allowed && reason.startsWith(rbacReason)) return { authorizer: "RBAC", how: "a role that is bound to the user" };
  if (allowed && user.groups.includes("system:masters")) {
    return { authorizer: "system:masters", how: "members of this group may do all, before any authorizer is asked" };
  }
  const [decider, ...others] = counted;
  if (decider !== undefined && others.length === 0)
    return { authorizer: decider.type, how: `called ${quoteGo(decider.name)}, by the server's own counts` };
  if (decider !== undefined)
    return {
      authorizer: "other",
      how: `one of ${counted.map(({ type, name }) => `${type} ${quoteGo(name)}`).join(", ")}`,
    };
  if (denied) return { authorizer: "Webhook", how: "an authorizer denied it, which only webhooks do" };
  if (reason !== "") return { authorizer: "other", how: "an authorizer with reasons of its own, such as a webhook" };
  if (nodeIdentity(user) !== undefined)
    return { authorizer: "Node", how: "or another authorizer that gives no reasons" };
  return { authorizer: "other", how: "AlwaysAllow, ABAC or a webhook, which gave no reason" };
}
