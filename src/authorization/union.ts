/** A chain: the first authorizer that allows or denies decides; none is a refusal. Source: access-control §5.3. */
import { joinErrors } from "../lib/json/quote.ts";
import type { AuthorizationAttributes, Authorizer, Decision, DecisionCounts } from "./contract.ts";
import { noOpinion } from "./decisions.ts";

export interface Link {
  readonly authorize: Authorizer;
  /** What it decides is counted here. */
  readonly counts?: DecisionCounts;
}

export function unionAuthorizer(chain: readonly Link[]): Authorizer {
  const ask = (
    attributes: AuthorizationAttributes,
    index: number,
    before: Undecided | undefined,
  ): Decision | Promise<Decision> => {
    let undecided = before;
    for (let at = index; at < chain.length; at++) {
      const link = chain[at] as Link;
      const answer = link.authorize(attributes);
      if (answer instanceof Promise)
        return answer.then((decision) =>
          isFinal(decision, link) ? decision : ask(attributes, at + 1, withAnswer(undecided, decision)),
        );
      if (isFinal(answer, link)) return answer;
      undecided = withAnswer(undecided, answer);
    }
    return undecided === undefined ? noOpinion : joined(undecided);
  };
  return (attributes) => ask(attributes, 0, undefined);
}

function isFinal({ decision }: Decision, { counts }: Link): boolean {
  if (decision === "noOpinion") return false;
  if (counts !== undefined) counts[decision === "allow" ? "allowed" : "denied"]++;
  return true;
}

/** What those said who had no opinion. */
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
