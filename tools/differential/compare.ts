/** Compares the answers of two servers to one request. */
import { isObject } from "../../src/lib/json/values.ts";
import { jsonDifferences } from "../../test/support/json-differences.ts";
import { writeBigInts } from "./protobuf-tree.ts";
import type { Reply } from "./run-steps.ts";

/** The most important difference of two answers. */
export interface Difference {
  /** `status`, `headers.…`, `body.…`, or `order of …` if only an order differs. */
  readonly what: string;
  readonly ours: unknown;
  readonly theirs: unknown;
}

/** @returns undefined if the answers are equal */
export function compareReplies(ours: Reply, theirs: Reply): Difference | undefined {
  if (ours.status !== theirs.status) return { what: "status", ours: shortOf(ours), theirs: shortOf(theirs) };
  const headers = jsonDifferences(ours.headers, theirs.headers)[0];
  if (headers !== undefined) return orderOr(`headers.${headers.path[0]}`, ours.headers, theirs.headers, headers);
  const mine = JSON.stringify(ours.body, writeBigInts);
  const other = JSON.stringify(theirs.body, writeBigInts);
  if (mine === other) return undefined;
  const body = jsonDifferences(ours.body, theirs.body)[0];
  if (body === undefined) return { what: "order of keys", ours: cut(mine), theirs: cut(other) };
  return orderOr(`body.${body.path.join(".")}`, ours.body, theirs.body, body);
}

/** Upstream iterates Go maps in random order: differences of order alone are apart. */
function orderOr(
  what: string,
  ours: unknown,
  theirs: unknown,
  first: { readonly ours: unknown; readonly theirs: unknown },
): Difference {
  const isOrder = unordered(ours) === unordered(theirs);
  return { what: isOrder ? `order of ${what}` : what, ours: first.ours, theirs: first.theirs };
}

/** A text that is equal for values which differ in the order of lists, and of the parts of messages. */
function unordered(value: unknown): string {
  if (typeof value === "string")
    return value
      .split(/[[\], \n]+/)
      .sort()
      .join(" ");
  if (Array.isArray(value)) return `[${value.map(unordered).sort().join()}]`;
  if (!isObject(value)) return String(value);
  const keys = Object.keys(value).sort();
  return `{${keys.map((key) => `${key}:${unordered(value[key])}`).join()}}`;
}

function shortOf({ status, body }: Reply): string {
  const message = isObject(body) && typeof body.message === "string" ? body.message : "";
  return `${status}${message === "" ? "" : `: ${message}`}`;
}

const textMax = 2000;

function cut(text: string | undefined): string {
  return (text ?? "").slice(0, textMax);
}
