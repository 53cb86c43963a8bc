/** Several methods together: the first that knows the caller decides. Source: access-control §5.1. */
import { unauthorized } from "../apimachinery/errors.ts";
import { type UserInfo, withAuthenticatedGroup } from "../apimachinery/user.ts";
import type { Exchange } from "../http/contract.ts";
import type { AnonymousConfiguration } from "./configuration/configuration.ts";
import type { Authenticated, AuthenticationNotes, Authenticator } from "./contract.ts";

const anonymous: UserInfo = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"], extra: new Map() };

/**
 * @returns the caller with `system:authenticated` among the groups, or the anonymous one
 * @throws ApiError 401 when no method knows the caller and a credential is wrong, or anonymous requests are refused
 */
export function authenticate(
  authenticators: readonly Authenticator[],
  { enabled, conditions }: AnonymousConfiguration,
): (exchange: Exchange, notes: AuthenticationNotes) => UserInfo | Promise<UserInfo> {
  const paths = new Set(conditions.map(({ path }) => path));
  const known = new WeakMap<UserInfo, UserInfo>();
  const complete = (user: UserInfo): UserInfo => {
    let whole = known.get(user);
    if (whole === undefined) {
      whole = withAuthenticatedGroup(user);
      known.set(user, whole);
    }
    return whole;
  };
  const next = (
    exchange: Exchange,
    notes: AuthenticationNotes,
    index: number,
    refusedBefore: boolean,
  ): UserInfo | Promise<UserInfo> => {
    let refused = refusedBefore;
    for (let at = index; at < authenticators.length; at++) {
      const found = (authenticators[at] as Authenticator)(exchange, notes);
      if (found instanceof Promise) {
        return found.then((user: Authenticated) =>
          user === undefined || user === "refused"
            ? next(exchange, notes, at + 1, refused || user === "refused")
            : complete(user),
        );
      }
      if (found === "refused") refused = true;
      else if (found !== undefined) return complete(found);
    }
    if (refused || !enabled || (paths.size > 0 && !paths.has(pathOf(exchange)))) throw unauthorized();
    return anonymous;
  };
  return (exchange, notes) => next(exchange, notes, 0, false);
}

/** Requests whose path cannot be read do not get here. */
function pathOf({ target }: Exchange): string {
  return decodeURIComponent(target.split("?", 1)[0] as string);
}
