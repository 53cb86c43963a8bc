import { type ApiError, timeout } from "../apimachinery/errors.ts";

/** The answer to a request that took longer than it may. */
export function requestTimedOut(): ApiError {
  return timeout("request did not complete within the allotted timeout");
}
