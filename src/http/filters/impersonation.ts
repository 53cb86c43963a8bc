/** Requests in another's name are refused: until they are served as that user, they must not be served with the caller's own rights. */
import { forbidden } from "../../api/errors.ts";
import type { Filter } from "../contract.ts";

const users = { group: "", resource: "users" };
/** The other headers, `impersonate-extra-…`, mean nothing without the first. */
const headers = ["impersonate-user", "impersonate-group", "impersonate-uid"] as const;

/** @throws ApiError 403. Source: access-control §5.2 */
export const impersonationFilter: Filter = ({ exchange }) => {
  const asked = headers.find((name) => exchange.header(name) !== undefined);
  if (asked === undefined) return;
  throw forbidden(users, exchange.header("impersonate-user") ?? "", "this server does not impersonate");
};
