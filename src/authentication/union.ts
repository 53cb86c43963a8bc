/**
 * Combines authenticators.
 * Source: k8s.io/apiserver@v0.36.0/pkg/authentication/request/union/union.go and
 * request/anonymous/anonymous.go.
 */
import { unauthorized } from "../apimachinery/errors.ts";
import { anonymousUser, type UserInfo, withAuthenticatedGroup } from "../apimachinery/user.ts";
import type { Exchange } from "../request/exchange.ts";
import type { AnonymousConfiguration } from "./configuration/configuration.ts";
import type { Authenticated, AuthenticationNotes, Authenticator } from "./contract.ts";

/**
 * Combines authenticators: the first that accepts the request determines the user.
 *
 * @returns a function that returns the user with the group `system:authenticated`, or the anonymous
 *   user
 * @throws ApiError from that function: Unauthorized when credentials are invalid or anonymous
 *   requests are disabled
 */
export function authenticate(
  authenticators: readonly Authenticator[],
  { enabled, conditions }: AnonymousConfiguration,
): (exchange: Exchange, notes: AuthenticationNotes) => UserInfo | Promise<UserInfo> {
  const paths = new Set(conditions.map(({ path }) => path));
  const completed = new WeakMap<UserInfo, UserInfo>();
  const complete = (user: UserInfo): UserInfo => {
    let whole = completed.get(user);
    if (whole === undefined) {
      whole = withAuthenticatedGroup(user);
      completed.set(user, whole);
    }
    return whole;
  };
  const next = (
    exchange: Exchange,
    notes: AuthenticationNotes,
    index: number,
    wasRejected: boolean,
  ): UserInfo | Promise<UserInfo> => {
    let rejected = wasRejected;
    for (let at = index; at < authenticators.length; at++) {
      const found = (authenticators[at] as Authenticator)(exchange, notes);
      if (found instanceof Promise) {
        return found.then((user: Authenticated) =>
          user === undefined || user === "rejected"
            ? next(exchange, notes, at + 1, rejected || user === "rejected")
            : complete(user),
        );
      }
      if (found === "rejected") rejected = true;
      else if (found !== undefined) return complete(found);
    }
    if (rejected || !enabled || (paths.size > 0 && !paths.has(pathOf(exchange)))) throw unauthorized();
    return anonymousUser;
  };
  return (exchange, notes) => next(exchange, notes, 0, false);
}

/** Requests with an invalid path are rejected earlier. */
function pathOf({ target }: Exchange): string {
  return decodeURIComponent(target.split("?", 1)[0] as string);
}
