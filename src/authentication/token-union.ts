/** Several kinds of tokens: the first that accepts decides. Source: access-control §5.1; apiserver's token union. */
import { joinErrors } from "../lib/json/quote.ts";
import type { RefusedToken, TokenAnswer, TokenAuthenticator } from "./contract.ts";

/** @returns the first acceptance, else all problems that were found, as one */
export function tokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  const next = (
    token: string,
    audiences: readonly string[],
    index: number,
    before: readonly RefusedToken[],
  ): TokenAnswer | Promise<TokenAnswer> => {
    let problems = before;
    for (let at = index; at < authenticators.length; at++) {
      const answer = (authenticators[at] as TokenAuthenticator)(token, audiences);
      if (answer instanceof Promise) {
        return answer.then((found) =>
          found !== undefined && "user" in found
            ? found
            : next(token, audiences, at + 1, withProblemOf(problems, found)),
        );
      }
      if (answer !== undefined && "user" in answer) return answer;
      problems = withProblemOf(problems, answer);
    }
    return problems.length === 0 ? undefined : together(problems);
  };
  return (token, audiences) => next(token, audiences, 0, []);
}

function withProblemOf(problems: readonly RefusedToken[], answer: TokenAnswer): readonly RefusedToken[] {
  return answer === undefined || !("problem" in answer) ? problems : [...problems, answer];
}

function together(refusals: readonly RefusedToken[]): RefusedToken {
  const problem = joinErrors(refusals.map((refusal) => refusal.problem));
  const annotated = refusals.find(({ annotations }) => annotations !== undefined);
  return annotated?.annotations === undefined ? { problem } : { problem, annotations: annotated.annotations };
}
