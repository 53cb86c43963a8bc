/** Tokens that say nothing of whom they are for are for this server. Source: apiserver's audience agnostic authenticators. */
import type { AcceptedToken, TokenAuthenticator } from "./contract.ts";

/**
 * Of several such methods together, so that they need not look at audiences each.
 * @param own what this server is called
 */
export function forOwnAudiences(authenticate: TokenAuthenticator, own: readonly string[]): TokenAuthenticator {
  return (token, audiences) => {
    const matching = audiences.filter((audience) => own.includes(audience));
    if (matching.length === 0) return undefined;
    const answer = authenticate(token, audiences);
    return answer instanceof Promise
      ? answer.then((found) => withAudiences(found, matching))
      : withAudiences(answer, matching);
  };
}

function withAudiences(answer: Awaited<ReturnType<TokenAuthenticator>>, audiences: readonly string[]): typeof answer {
  return answer === undefined || "problem" in answer ? answer : ({ ...answer, audiences } satisfies AcceptedToken);
}
