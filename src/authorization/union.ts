/** A chain: the first authorizer that allows or denies decides; none is a refusal. Source: access-control §5.3. */
import type { AuthorizationAttributes, Authorizer, Decision } from "./contract.ts";

export function unionAuthorizer(chain: readonly Authorizer[]): Authorizer {
  const ask = (attributes: AuthorizationAttributes, index: number, reasons: string[]): Decision | Promise<Decision> => {
    for (let at = index; at < chain.length; at++) {
      const answer = (chain[at] as Authorizer)(attributes);
      if (answer instanceof Promise) return answer.then((decision) => settle(decision, reasons) ?? ask(attributes, at + 1, reasons));
      const settled = settle(answer, reasons);
      if (settled !== undefined) return settled;
    }
    return { decision: "noOpinion", reason: reasons.join("\n") };
  };
  return (attributes) => ask(attributes, 0, []);
}

function settle(answer: Decision, reasons: string[]): Decision | undefined {
  if (answer.decision !== "noOpinion") return answer;
  if (answer.reason !== "") reasons.push(answer.reason);
  return undefined;
}
