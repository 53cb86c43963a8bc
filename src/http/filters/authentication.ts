/**
 * Authenticates requests. Source: k8s.io/apiserver@v0.36.0/pkg/endpoints/filters/authentication.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import type { UserInfo } from "../../apimachinery/user.ts";
import type { Filter, RequestState } from "../../request/context.ts";
import type { Exchange } from "../../request/exchange.ts";

/** Options of the authentication filter. */
interface AuthenticationFilterOptions {
  /**
   * Whether a header, by its lower-case name, carries a credential; such headers are removed after
   * authentication.
   */
  readonly isCredential: (name: string) => boolean;
  /**
   * Gate UnauthenticatedHTTP2DOSMitigation: closes HTTP/2 connections of unauthenticated clients.
   */
  readonly endUnknown: boolean;
}

/**
 * Creates the filter.
 * @param authenticate throws ApiError 401
 */
export function authenticationFilter(
  authenticate: (
    exchange: Exchange,
    notes: Pick<RequestState, "warnings" | "annotations">,
  ) => UserInfo | Promise<UserInfo>,
  { isCredential, endUnknown }: AuthenticationFilterOptions,
): Filter {
  const known = (context: RequestState, user: UserInfo): void => {
    const { exchange } = context;
    context.user = user;
    if (hasCredential(exchange.rawHeaders, isCredential)) exchange.forgetHeaders(isCredential);
    if (endUnknown && exchange.protocol === "HTTP/2.0" && user.groups.includes("system:unauthenticated"))
      exchange.endConnection();
  };
  const unknown = ({ exchange }: RequestState, error: unknown): never => {
    if (endUnknown && exchange.protocol === "HTTP/2.0" && error instanceof ApiError) exchange.endConnection();
    throw error;
  };
  return (context) => {
    let found: UserInfo | Promise<UserInfo>;
    try {
      found = authenticate(context.exchange, context);
    } catch (error) {
      return unknown(context, error);
    }
    if (!(found instanceof Promise)) return known(context, found);
    return found.then(
      (user) => known(context, user),
      (error: unknown) => unknown(context, error),
    );
  };
}

function hasCredential(rawHeaders: readonly string[], isCredential: (name: string) => boolean): boolean {
  for (let at = 0; at < rawHeaders.length; at += 2)
    if (isCredential((rawHeaders[at] as string).toLowerCase())) return true;
  return false;
}
