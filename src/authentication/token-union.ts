/**
 * Combines token authenticators.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/token/union/union.go.
 */
import { joinErrors } from "../lib/json/quote.ts";
import type { RejectedToken, TokenAnswer, TokenAuthenticator } from "./contract.ts";

/** @returns an authenticator with the first accepted result, otherwise with the joined problems */
export function tokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  const next = (
    token: string,
    audiences: readonly string[],
    index: number,
    before: readonly RejectedToken[],
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
    return problems.length === 0 ? undefined : joinProblems(problems);
  };
  return (token, audiences) => next(token, audiences, 0, []);
}

function withProblemOf(problems: readonly RejectedToken[], answer: TokenAnswer): readonly RejectedToken[] {
  return answer === undefined || !("problem" in answer) ? problems : [...problems, answer];
}

function joinProblems(rejections: readonly RejectedToken[]): RejectedToken {
  const problem = joinErrors(rejections.map((rejection) => rejection.problem));
  const annotated = rejections.find(({ annotations }) => annotations !== undefined);
  return annotated?.annotations === undefined ? { problem } : { problem, annotations: annotated.annotations };
}
