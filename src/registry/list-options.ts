/**
 * Which options of a list, a watch or a deletecollection go together. Source: ValidateListOptions in
 * k8s.io/apimachinery@v0.36.0/pkg/apis/meta/internalversion/validation/validation.go.
 */
import { ApiError, badRequest, plainError, type StatusCause } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { joinErrors, quoteGo } from "../lib/json/quote.ts";
import { clampedInteger } from "../lib/text/integer.ts";
import type { ListOptions } from "../request/list-options.ts";
import { parseSelectors } from "./selection.ts";

/**
 * Where the gate is on, a watch that starts with existing objects (without a resourceVersion, or at
 * 0) becomes a streaming list.
 * @param allowed `initialEvents`: the gate WatchList
 */
export function withWatchDefaults(options: ListOptions, allowed: { readonly initialEvents: boolean }): ListOptions {
  const { watch, resourceVersion, resourceVersionMatch, sendInitialEvents } = options;
  const begins = watch && (resourceVersion === "" || resourceVersion === "0");
  if (!allowed.initialEvents || !begins || sendInitialEvents !== undefined || resourceVersionMatch !== "")
    return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: "NotOlderThan" };
}

/**
 * Rejects combinations of options that are not allowed for a list. Upstream reads the selectors
 * before: of several errors, theirs is reported.
 * @throws ApiError 400 with upstream's message and causes
 */
export function checkListOptions(options: ListOptions): void {
  const { resourceVersion, resourceVersionMatch: match, continueToken, sendInitialEvents } = options;
  const errors = new FieldErrors();
  if (match !== "") {
    if (resourceVersion === "")
      errors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden unless resourceVersion is provided");
    if (continueToken !== "")
      errors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
    if (match !== "Exact" && match !== "NotOlderThan")
      errors.notSupported("resourceVersionMatch", match, ["Exact", "NotOlderThan", ""]);
    if (match === "Exact" && resourceVersion === "0")
      errors.forbidden("resourceVersionMatch", 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"');
  }
  if (sendInitialEvents !== undefined) errors.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
  reject(errors, options);
}

/**
 * Rejects combinations of options that are not allowed for a watch; without `watch`, those of a
 * list, as upstream.
 * @param allowed `initialEvents`: the gate WatchList
 * @throws ApiError 400 with upstream's message and causes
 */
export function checkWatchOptions(options: ListOptions, allowed: { readonly initialEvents: boolean }): void {
  if (!options.watch) return checkListOptions(options);
  const { resourceVersionMatch: match, continueToken, sendInitialEvents } = options;
  const errors = new FieldErrors();
  if (sendInitialEvents !== undefined) {
    if (match !== "NotOlderThan")
      errors.forbidden(
        "resourceVersionMatch",
        "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
      );
    if (!allowed.initialEvents)
      errors.forbidden(
        "sendInitialEvents",
        "sendInitialEvents is forbidden for watch unless the WatchList feature gate is enabled",
      );
  }
  if (match !== "") {
    if (sendInitialEvents === undefined)
      errors.forbidden(
        "resourceVersionMatch",
        "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
      );
    if (match !== "NotOlderThan") errors.notSupported("resourceVersionMatch", match, ["NotOlderThan"]);
    if (continueToken !== "")
      errors.forbidden("resourceVersionMatch", "resourceVersionMatch is forbidden when continue is provided");
  }
  reject(errors, options);
}

function reject(errors: FieldErrors, options: ListOptions): void {
  if (errors.empty) return;
  parseSelectors(options);
  throw invalidOptions(errors.causes);
}

/**
 * Parses a resourceVersion as clients send it: any uint64.
 * @returns 0 for `0` and for the empty text; Infinity for a number above all revisions of this
 *   server
 * @throws ApiError with upstream's text: 400 for a list, 500 for a get and a watch
 */
export function parseResourceVersion(text: string, verb: "get" | "list" | "watch"): number {
  if (text === "" || text === "0") return 0;
  const isNumber = /^[0-9]+$/.test(text);
  if (isNumber && clampedInteger(text) <= uint64Max)
    return Number.isSafeInteger(Number(text)) ? Number(text) : Number.POSITIVE_INFINITY;
  const why = `resourceVersion: Invalid value: ${quoteGo(text)}: strconv.ParseUint: parsing ${quoteGo(text)}: ${isNumber ? "value out of range" : "invalid syntax"}`;
  throw verb === "list" ? badRequest(`invalid resource version: ${why}`) : plainError(why);
}

const uint64Max = 2n ** 64n - 1n;

/** Status 400 for wrong combinations of options; upstream answers 422 with the same message. */
function invalidOptions(causes: readonly StatusCause[]): ApiError {
  const text = joinErrors(causes.map(({ field, message }) => `${field}: ${message}`));
  return new ApiError({
    code: 400,
    reason: "BadRequest",
    message: `ListOptions.meta.k8s.io "" is invalid: ${text}`,
    details: { group: "meta.k8s.io", kind: "ListOptions", causes: [...causes] },
  });
}
