/**
 * Combines token authenticators.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/token/union/union.go.
 */
import type { RejectedToken, TokenAnswer, TokenAuthenticator } from "./contract.ts";

/** @returns an authenticator with the first accepted result, otherwise with all problems */
export function tokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  const next = (
    token: string,
    audiences: readonly string[],
    index: number,
    before: RejectedToken | undefined,
  ): TokenAnswer | Promise<TokenAnswer> => {
    let rejected = before;
    for (let at = index; at < authenticators.length; at++) {
      const answer = (authenticators[at] as TokenAuthenticator)(token, audiences);
      if (answer instanceof Promise) {
        return answer.then((found) =>
          found !== undefined && "user" in found
            ? found
            : next(token, audiences, at + 1, withProblemsOf(rejected, found)),
        );
      }
      if (answer !== undefined && "user" in answer) return answer;
      rejected = withProblemsOf(rejected, answer);
    }
    return rejected;
  };
  return (token, audiences) => next(token, audiences, 0, undefined);
}

function withProblemsOf(
  before: RejectedToken | undefined,
  found: RejectedToken | undefined,
): RejectedToken | undefined {
  if (before === undefined || found === undefined) return before ?? found;
  const annotations = before.annotations ?? found.annotations;
  return { problems: [...before.problems, ...found.problems], ...(annotations && { annotations }) };
}
