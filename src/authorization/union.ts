/**
 * Evaluates authorizers in order.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authorization/union/union.go.
 */
import { joinErrors } from "../lib/json/quote.ts";
import type { AuthorizationAttributes, Authorizer, Decision, DecisionCounts } from "./contract.ts";
import { noOpinion } from "./decisions.ts";

interface ChainLink {
  readonly authorize: Authorizer;
  /** Counts the final decisions of the authorizer. */
  readonly counts?: DecisionCounts;
}

/**
 * @returns an authorizer with the decision of the first link that allows or denies, otherwise the
 *   joined reasons and errors of all links
 */
export function unionAuthorizer(chain: readonly ChainLink[]): Authorizer {
  const decide = (
    attributes: AuthorizationAttributes,
    index: number,
    before: Undecided | undefined,
  ): Decision | Promise<Decision> => {
    let undecided = before;
    for (let at = index; at < chain.length; at++) {
      const link = chain[at] as ChainLink;
      const answer = link.authorize(attributes);
      if (answer instanceof Promise)
        return answer.then((decision) =>
          isFinal(decision, link) ? decision : decide(attributes, at + 1, withAnswer(undecided, decision)),
        );
      if (isFinal(answer, link)) return answer;
      undecided = withAnswer(undecided, answer);
    }
    return undecided === undefined ? noOpinion : joined(undecided);
  };
  return (attributes) => decide(attributes, 0, undefined);
}

function isFinal({ decision }: Decision, { counts }: ChainLink): boolean {
  if (decision === "noOpinion") return false;
  if (counts !== undefined) counts[decision === "allow" ? "allowed" : "denied"]++;
  return true;
}

/** The reasons and errors of the authorizers without an opinion. */
interface Undecided {
  readonly reasons: string[];
  readonly errors: string[];
}

function withAnswer(before: Undecided | undefined, { reason, error }: Decision): Undecided | undefined {
  if (reason === "" && error === undefined) return before;
  const undecided = before ?? { reasons: [], errors: [] };
  if (reason !== "") undecided.reasons.push(reason);
  if (error !== undefined) undecided.errors.push(error);
  return undecided;
}

function joined({ reasons, errors }: Undecided): Decision {
  const reason = reasons.join("\n");
  if (errors.length === 0) return { decision: "noOpinion", reason };
  return { decision: "noOpinion", reason, error: joinErrors(errors) };
}
