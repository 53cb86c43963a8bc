/** Finds out who asks. */
import type { UserInfo } from "../../api/user.ts";
import type { Exchange, Filter } from "../contract.ts";

/** @param authenticate throws ApiError 401 */
export function authenticationFilter(authenticate: (exchange: Exchange, warnings: string[]) => UserInfo | Promise<UserInfo>): Filter {
  return (context) => {
    const found = authenticate(context.exchange, context.warnings);
    if (!(found instanceof Promise)) {
      context.user = found;
      return undefined;
    }
    return found.then((user) => {
      context.user = user;
    });
  };
}
