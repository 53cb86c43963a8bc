/**
 * Queries as Go reads and writes them. Source: `ParseQuery` and `Values.Encode` in Go's
 * net/url/url.go.
 */

/** Keys and values. */
export type QueryParameters = readonly (readonly [key: string, value: string])[];

/** Go treats a query with more parameters as empty. Source: `urlMaxQueryParams` in net/url/url.go. */
const parametersMax = 10_000;

/** Whether Go reads the parameters of a query. Each `&` counts, also next to another one. */
export function isReadQuery(query: string): boolean {
  let count = 1;
  for (let at = query.indexOf("&"); at >= 0 && count <= parametersMax; at = query.indexOf("&", at + 1)) count++;
  return count <= parametersMax;
}

/**
 * Parses the query of a request. One with too many parameters is empty, as for Go: the time that
 * `URLSearchParams` takes grows faster than their number. Parameters with a semicolon or a malformed
 * escape are dropped.
 *
 * @param query without its question mark
 */
export function parseQuery(query: string): URLSearchParams {
  if (!isReadQuery(query)) return new URLSearchParams();
  const read = isMalformed(query) ? query.split("&").filter((parameter) => !isMalformed(parameter)) : [query];
  // URLSearchParams drops one question mark, and another one belongs to the first name.
  return new URLSearchParams(`?${read.join("&")}`);
}

function isMalformed(text: string): boolean {
  return text.includes(";") || malformedEscape.test(text);
}

const malformedEscape = /%(?![0-9a-f]{2})/i;

const reserved = /[^A-Za-z0-9._~-]+/g;

/**
 * Parses a query and encodes it again, sorted by key. Parameters with a semicolon or a malformed
 * escape are dropped.
 *
 * @param query without its question mark, as sent
 */
export function encodeQueryAgain(query: string): string {
  const parameters: [string, string][] = [];
  if (!isReadQuery(query)) return "";
  for (const parameter of query.split("&")) {
    if (parameter === "" || isMalformed(parameter)) continue;
    const equals = parameter.indexOf("=");
    const key = decode(equals < 0 ? parameter : parameter.slice(0, equals));
    const value = decode(equals < 0 ? "" : parameter.slice(equals + 1));
    if (key !== undefined && value !== undefined) parameters.push([key, value]);
  }
  return encodeSorted(parameters);
}

/** Encodes parameters, sorted by key. Those with the same key keep their order. */
export function encodeQuery(parameters: QueryParameters): string {
  return encodeSorted(parameters.map(([key, value]) => [bytesOf(key), bytesOf(value)]));
}

function encodeSorted(parameters: QueryParameters): string {
  const sorted = parameters.toSorted(([one], [other]) => (one < other ? -1 : one > other ? 1 : 0));
  return sorted.map(([key, value]) => `${encode(key)}=${encode(value)}`).join("&");
}

function bytesOf(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** @returns a text with a character for each byte; undefined for a malformed escape */
function decode(text: string): string | undefined {
  if (malformedEscape.test(text)) return undefined;
  return text
    .replaceAll("+", " ")
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

function encode(bytes: string): string {
  return bytes.replace(reserved, (run) =>
    Buffer.from(run, "latin1").toString("hex").toUpperCase().replace(/../g, "%$&").replaceAll("%20", "+"),
  );
}
