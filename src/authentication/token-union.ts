/** Several kinds of tokens: the first that accepts decides. Source: access-control §5.1. */
import type { TokenAnswer, TokenAuthenticator } from "./contract.ts";

/** @returns the first acceptance, else the first problem that was found */
export function tokenUnion(authenticators: readonly TokenAuthenticator[]): TokenAuthenticator {
  const next = (token: string, audiences: readonly string[], index: number, problem: TokenAnswer): TokenAnswer | Promise<TokenAnswer> => {
    let first = problem;
    for (let at = index; at < authenticators.length; at++) {
      const answer = (authenticators[at] as TokenAuthenticator)(token, audiences);
      if (answer instanceof Promise) {
        return answer.then((found) => (found !== undefined && "user" in found ? found : next(token, audiences, at + 1, first ?? found)));
      }
      if (answer !== undefined && "user" in answer) return answer;
      first ??= answer;
    }
    return first;
  };
  return (token, audiences) => next(token, audiences, 0, undefined);
}
