/**
 * The query parameters of a list, a watch or a deletecollection. Source: ListOptions and its
 * validation upstream.
 */
import { ApiError, badRequest, plainError, type StatusCause } from "../apimachinery/errors.ts";
import { FieldErrors } from "../apimachinery/field-errors.ts";
import { joinErrors, quoteGo } from "../lib/json/quote.ts";
import { clampedInteger } from "../lib/text/integer.ts";
import { parseSelectors } from "./selection.ts";

/** The parsed query parameters, not yet validated. */
export interface ListOptions {
  /** Set by the parameter `watch`; a path under `/watch/` watches without it. */
  readonly watch: boolean;
  readonly labelSelector: string;
  readonly fieldSelector: string;
  /** Items per chunk; 0 is no limit. */
  readonly limit: number;
  /** Empty for the first chunk. */
  readonly continueToken: string;
  /** As sent; empty when unset. */
  readonly resourceVersion: string;
  readonly resourceVersionMatch: string;
  /** Undefined: chosen by the server. */
  readonly timeoutSeconds: number | undefined;
  readonly allowWatchBookmarks: boolean;
  /** Undefined when the parameter is absent, which differs from false. */
  readonly sendInitialEvents: boolean | undefined;
  /** As sent, also while the gate ShardedListAndWatch is off; empty when absent. */
  readonly shardSelector: string;
}

/** The options of a list without parameters. */
export const plainList: ListOptions = parseListOptions(new URLSearchParams());

/** @throws ApiError 400 when a numeric parameter is not a number */
export function parseListOptions(query: URLSearchParams): ListOptions {
  return {
    watch: parseFlag(query.get("watch")) ?? false,
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    timeoutSeconds: parseInteger(query.get("timeoutSeconds")), // Before `limit`, as upstream reports errors.
    limit: Math.max(0, parseInteger(query.get("limit")) ?? 0),
    continueToken: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    allowWatchBookmarks: parseFlag(query.get("allowWatchBookmarks")) ?? false,
    sendInitialEvents: parseFlag(query.get("sendInitialEvents")),
    shardSelector: query.get("shardSelector") ?? "",
  };
}

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
const int64Max = 2n ** 63n - 1n;

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

/** @throws ApiError 400 with the text of Go's ParseInt */
function parseInteger(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?[0-9]+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: invalid syntax`);
  const value = clampedInteger(text);
  if (value > int64Max || value < -int64Max - 1n)
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  return Number(value);
}

/** Everything except `0` and `false` is true, also the empty text. */
function parseFlag(text: string | null): boolean | undefined {
  if (text === null) return undefined;
  return text !== "0" && text.toLowerCase() !== "false";
}
