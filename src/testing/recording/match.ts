/** Whether a request, or a part of it, is the recorded one. */
import { memberOf } from "../../lib/json/diff.ts";
import { isObject } from "../../lib/json/values.ts";
import type { RecordedBody, RequestLine } from "./format.ts";
import { placeholderPattern } from "./placeholder.ts";

/** Parameters that clients choose at random. */
const volatileParameters: ReadonlySet<string> = new Set(["timeout", "timeoutSeconds"]);

/**
 * Texts that differ in every run: times, UUIDs, and the ends of the names of Events.
 * Bounded: recordings that a developer makes of an own server.
 */
const volatileText =
  /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<=\.)[0-9a-f]{16}\b/g;

/**
 * Compares a request with a recorded one.
 *
 * @returns what differs first, such as `body.spec.replicas: recorded 2, received 3`; undefined when
 *   they match
 */
export function requestDifference(
  recorded: RequestLine["request"],
  actual: RequestLine["request"],
): string | undefined {
  if (recorded.method !== actual.method || !textMatches(recorded.path, actual.path))
    return `${recorded.method} ${recorded.path} was recorded`;
  return (
    queryDifference(recorded.query, actual.query) ?? bodyDifference(recorded.body ?? nothing, actual.body ?? nothing)
  );
}

const nothing = { json: undefined };

function queryDifference(
  recorded: RequestLine["request"]["query"],
  actual: RequestLine["request"]["query"],
): string | undefined {
  const [before, after] = [comparable(recorded), comparable(actual)];
  return difference(before, after, "query");
}

/** The values of each parameter, whatever the order of the parameters. */
function comparable(query: RequestLine["request"]["query"]): Record<string, string[]> {
  const values = new Map<string, string[]>();
  for (const [name, value] of query) {
    if (volatileParameters.has(name)) continue;
    const ordered = name === "fieldSelector" ? sortedRequirements(value) : value;
    values.set(name, [...(values.get(name) ?? []), ordered]);
  }
  return Object.fromEntries(values);
}

/**
 * client-go writes the requirements of field selectors in random order, other than those of label selectors.
 * Source: `k8s.io/apimachinery@v0.36.0/pkg/fields/selector.go`, SelectorFromSet; values can contain `\,`.
 */
function sortedRequirements(selector: string): string {
  return (selector.match(/(?:\\.|[^\\,])+/gs) ?? []).sort().join(",");
}

/** A body that was not recorded matches every body. */
function bodyDifference(recorded: RecordedBody, actual: RecordedBody): string | undefined {
  return "omitted" in recorded ? undefined : difference(contentOf(recorded), contentOf(actual), "body");
}

function contentOf(body: RecordedBody): unknown {
  if ("json" in body) return body.json;
  if ("text" in body) return body.text;
  return "base64" in body ? body.base64 : undefined;
}

function difference(recorded: unknown, actual: unknown, at: string): string | undefined {
  if (typeof recorded === "string" && typeof actual === "string" && textMatches(recorded, actual)) return undefined;
  if (recorded === actual) return undefined;
  if (Array.isArray(recorded) && Array.isArray(actual) && recorded.length === actual.length)
    return firstDefined(recorded.map((item, index) => () => difference(item, actual[index], `${at}[${index}]`)));
  if (isObject(recorded) && isObject(actual)) {
    const keys = [...new Set([...Object.keys(recorded), ...Object.keys(actual)])];
    return firstDefined(
      keys.map((key) => () => difference(memberOf(recorded, key), memberOf(actual, key), `${at}.${key}`)),
    );
  }
  return `${at}: recorded ${shown(recorded)}, received ${shown(actual)}`;
}

function firstDefined(attempts: readonly (() => string | undefined)[]): string | undefined {
  for (const attempt of attempts) {
    const found = attempt();
    if (found !== undefined) return found;
  }
  return undefined;
}

const shownLengthMax = 200;

function shown(value: unknown): string {
  const text = JSON.stringify(value, (_key, one) => (typeof one === "bigint" ? String(one) : one)) ?? "nothing";
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}…` : text;
}

/** A placeholder matches any text. */
function textMatches(recorded: string, actual: string): boolean {
  if (recorded === actual) return true;
  const pieces = stable(recorded).split(placeholderPattern);
  const text = stable(actual);
  if (pieces.length === 1) return pieces[0] === text;
  const [first = "", last = ""] = [pieces[0], pieces.at(-1)];
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length) return false;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > text.length - last.length) return false;
    at = found + piece.length;
  }
  return true;
}

function stable(text: string): string {
  return text.replace(volatileText, "~");
}
