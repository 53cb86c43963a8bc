/** Combines the verdict of the server with the evaluation of its roles and bindings. */
import { nodeIdentity } from "../../apimachinery/node-identity.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import type { CountedAuthorizer } from "./counted-authorizers.ts";
import type { Question } from "./question.ts";
import type { RbacMatches } from "./rbac-matches.ts";
import type { Verdict } from "./server.ts";

/**
 * The result of `coxswain auth explain`; a part that the server did not answer holds its error as
 * `problem`.
 */
export interface Explanation {
  readonly question: Question;
  readonly verdict: Verdict | { readonly problem: string };
  readonly rbac: RbacMatches | { readonly problem: string };
  /**
   * Authorizers that may have decided, by the server's metrics; empty when the verdict shows it or
   * metrics cannot be read.
   */
  readonly counted: readonly CountedAuthorizer[];
  /** Hints for the user, such as a resource that the server does not have. */
  readonly notes: readonly string[];
}

/**
 * The server's verdict, or the result of its roles and bindings where the server gives no verdict.
 */
export function isAllowed({ verdict, rbac }: Explanation): boolean {
  return "problem" in verdict ? !("problem" in rbac) && rbac.allowing.length > 0 : verdict.allowed;
}

/** The prefix of reasons that the RBAC authorizer gives. */
export const rbacReason = "RBAC: ";

interface DecidedBy {
  readonly authorizer: string;
  readonly how: string;
}

/**
 * The authorizer that decided. Reviews do not name it; it is derived from the reason, the user and
 * the metrics of the server.
 */
export function decidedBy({ question: { user }, verdict, counted }: Explanation): DecidedBy {
  if ("problem" in verdict)
    return {
      authorizer: "unknown",
      how: "the server rejected the review; the rest is derived from its roles and bindings",
    };
  const { allowed, denied, reason } = verdict;
  if (!allowed && !denied) return { authorizer: "none", how: "no authorizer allowed it" };
  if (allowed && reason.startsWith(rbacReason)) return { authorizer: "RBAC", how: "a role that is bound to the user" };
  if (allowed && user.groups.includes("system:masters")) {
    return {
      authorizer: "system:masters",
      how: "members of this group are allowed everything, before any authorizer runs",
    };
  }
  const [decider, ...others] = counted;
  if (decider !== undefined && others.length === 0)
    return { authorizer: decider.type, how: `named ${quoteGo(decider.name)}, by the metrics of the server` };
  if (decider !== undefined)
    return {
      authorizer: "other",
      how: `one of ${counted.map(({ type, name }) => `${type} ${quoteGo(name)}`).join(", ")}`,
    };
  if (denied) return { authorizer: "Webhook", how: "an authorizer denied it; only webhooks deny" };
  if (reason !== "") return { authorizer: "other", how: "an authorizer with its own reasons, such as a webhook" };
  if (nodeIdentity(user) !== undefined)
    return { authorizer: "Node", how: "or another authorizer that gives no reasons" };
  return { authorizer: "other", how: "AlwaysAllow, ABAC or a webhook, which gave no reason" };
}
