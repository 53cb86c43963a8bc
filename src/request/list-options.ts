/** The query parameters of a list, a watch or a deletecollection. Source: ListOptions of meta.k8s.io upstream. */
import { badRequest } from "../apimachinery/errors.ts";
import { parseQueryBool } from "../apimachinery/parse-bool.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { clampedInteger } from "../lib/text/integer.ts";

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
    watch: parseQueryBool(query.get("watch")) ?? false,
    labelSelector: query.get("labelSelector") ?? "",
    fieldSelector: query.get("fieldSelector") ?? "",
    timeoutSeconds: parseInteger(query.get("timeoutSeconds")), // Before `limit`, as upstream reports errors.
    limit: Math.max(0, parseInteger(query.get("limit")) ?? 0),
    continueToken: query.get("continue") ?? "",
    resourceVersion: query.get("resourceVersion") ?? "",
    resourceVersionMatch: query.get("resourceVersionMatch") ?? "",
    allowWatchBookmarks: parseQueryBool(query.get("allowWatchBookmarks")) ?? false,
    sendInitialEvents: parseQueryBool(query.get("sendInitialEvents")),
    shardSelector: query.get("shardSelector") ?? "",
  };
}

const int64Max = 2n ** 63n - 1n;

/** @throws ApiError 400 with the text of Go's ParseInt */
function parseInteger(text: string | null): number | undefined {
  if (text === null) return undefined;
  if (!/^[+-]?[0-9]+$/.test(text)) throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: invalid syntax`);
  const value = clampedInteger(text);
  if (value > int64Max || value < -int64Max - 1n)
    throw badRequest(`strconv.ParseInt: parsing ${quoteGo(text)}: value out of range`);
  return Number(value);
}
