/**
 * Audiences of tokens without audiences.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/authenticator/audagnostic.go.
 */
import type { AcceptedToken, TokenAuthenticator } from "./contract.ts";

/**
 * Treats all tokens of an authenticator as valid for the audiences of this server.
 *
 * @param own the audiences of this server
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
  return answer === undefined || "problems" in answer ? answer : ({ ...answer, audiences } satisfies AcceptedToken);
}
