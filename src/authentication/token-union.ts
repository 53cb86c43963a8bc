/** Several kinds of tokens: the first that accepts decides. Source: access-control §5.1; apiserver's token union. */
import { joinErrors } from "../lib/json/quote.ts";
import type { TokenAnswer, TokenAuthenticator } from "./contract.ts";

/** @returns the first acceptance, else all problems that were found, as one */
export function tokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  const next = (token: string, audiences: readonly string[], index: number, before: readonly string[]): TokenAnswer | Promise<TokenAnswer> => {
    let problems = before;
    for (let at = index; at < authenticators.length; at++) {
      const answer = (authenticators[at] as TokenAuthenticator)(token, audiences);
      if (answer instanceof Promise) {
        return answer.then((found) =>
          found !== undefined && "user" in found ? found : next(token, audiences, at + 1, withProblemOf(problems, found)),
        );
      }
      if (answer !== undefined && "user" in answer) return answer;
      problems = withProblemOf(problems, answer);
    }
    return problems.length === 0 ? undefined : { problem: joinErrors(problems) };
  };
  return (token, audiences) => next(token, audiences, 0, []);
}

function withProblemOf(problems: readonly string[], answer: TokenAnswer): readonly string[] {
  return answer === undefined || !("problem" in answer) ? problems : [...problems, answer.problem];
}
