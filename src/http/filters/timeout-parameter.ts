/** The parameter `timeout`, as far as it is looked at: what is no duration is refused. Watches do without it. Source: upstream's WithRequestDeadline */
import { badRequest } from "../../api/errors.ts";
import { DurationError, parseDuration } from "../../lib/duration/duration.ts";
import type { Filter } from "../contract.ts";
import { isLongRunning } from "../request-info.ts";

/** @throws ApiError 400 */
export const timeoutParameterFilter: Filter = ({ info }) => {
  const text = info.query.get("timeout") ?? "";
  if (text === "" || isLongRunning(info)) return;
  try {
    parseDuration(text);
  } catch (error) {
    if (error instanceof DurationError) throw badRequest(`invalid timeout specified in the request URL - ${error.message}`);
    throw error;
  }
};
