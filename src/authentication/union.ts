/** Several methods together: the first that knows the caller decides. Source: access-control §5.1. */
import { unauthorized } from "../api/errors.ts";
import type { UserInfo } from "../api/user.ts";
import type { Exchange } from "../http/contract.ts";
import type { Authenticator } from "./contract.ts";

const anonymous: UserInfo = { name: "system:anonymous", uid: "", groups: ["system:unauthenticated"], extra: new Map() };
const authenticatedGroup = "system:authenticated";

/**
 * @returns the caller with `system:authenticated` among the groups, or the anonymous one
 * @throws ApiError 401 when a credential is wrong, or there is none and anonymous requests are refused
 */
export function authenticate(
  authenticators: readonly Authenticator[],
  { anonymousAuth }: { anonymousAuth: boolean },
): (exchange: Exchange) => UserInfo | Promise<UserInfo> {
  const known = new WeakMap<UserInfo, UserInfo>();
  const complete = (user: UserInfo): UserInfo => {
    if (user.groups.includes(authenticatedGroup)) return user;
    let whole = known.get(user);
    if (whole === undefined) {
      whole = { ...user, groups: [...user.groups, authenticatedGroup] };
      known.set(user, whole);
    }
    return whole;
  };
  const next = (exchange: Exchange, index: number): UserInfo | Promise<UserInfo> => {
    for (let at = index; at < authenticators.length; at++) {
      const found = (authenticators[at] as Authenticator)(exchange);
      if (found instanceof Promise) return found.then((user) => (user === undefined ? next(exchange, at + 1) : complete(user)));
      if (found !== undefined) return complete(found);
    }
    // A token that no method knew is wrong, not absent.
    if (!anonymousAuth || carriesToken(exchange)) throw unauthorized();
    return anonymous;
  };
  return (exchange) => next(exchange, 0);
}

function carriesToken(exchange: Exchange): boolean {
  return exchange.header("authorization") !== undefined || (exchange.webSocket?.bearerTokens ?? []).length > 0;
}
