/**
 * Parsing and formatting of URLs like Go's net/url, with its error messages. "Bytes" in names means
 * a string with one character per UTF-8 byte.
 */
import { escapeGo, quoteGo } from "../json/quote.ts";
import { AddressError, parseAddress } from "./addresses.ts";
import { isReadQuery } from "./go-query.ts";

/** A parsed URL. All texts are bytes. */
export interface GoUrl {
  readonly scheme: string;
  /** The text after the scheme, if it does not start with `/`. */
  readonly opaque: string;
  readonly user: { readonly name: string; readonly password: string | undefined } | undefined;
  /** Includes the port. */
  readonly host: string;
  readonly path: string;
  /** Not unescaped. */
  readonly rawPath: string;
  readonly rawQuery: string;
  /** The URL ends with `?`. */
  readonly isQueryEmpty: boolean;
  readonly fragment: string;
  readonly rawFragment: string;
  /** There is a scheme and no authority. */
  readonly omitsHost: boolean;
}

/** An invalid URL, with Go's message. */
export class GoUrlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "GoUrlError";
  }
}

/** The characters that are escaped in each part. */
const escapedIn = {
  path: /[^\w\-.~$&+,/:;=@]/gs,
  host: /[^\w\-.~!"$&'()*+,:;<=>[\]]/gs,
  user: /[^\w\-.~$&+,;=]/gs,
  fragment: /[^\w\-.~!$&()*+,/:;=?@]/gs,
} as const;

/** Whether an original text can be kept: further characters are allowed in it, and escapes. */
const keptIn = {
  path: /^[\w\-.~$&+,/:;=@!'()*[\]%]*$/,
  fragment: /^[\w\-.~!$&()*+,/:;=?@'[\]%]*$/,
} as const;

const invalidEscape = /%(?![0-9A-Fa-f]{2})/;

type Part = "path" | "host" | "user" | "query" | "fragment" | "zone";

function bytesOf(text: string): string {
  return Buffer.from(text.toWellFormed()).toString("latin1");
}

/** Decodes bytes. */
export function textOf(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString();
}

/**
 * Parses an absolute URL or an absolute path, without a fragment. Source: Go, url.ParseRequestURI
 *
 * @throws GoUrlError
 */
export function parseRequestUri(text: string): GoUrl {
  return withTextInError(text, () => parseWithoutFragment(bytesOf(text), { viaRequest: true }));
}

/** As {@link parseRequestUri}. @returns undefined for other text */
export function findRequestUri(text: string): GoUrl | undefined {
  try {
    return parseRequestUri(text);
  } catch (error) {
    if (error instanceof GoUrlError) return undefined;
    throw error;
  }
}

/** Parses a URL. Source: Go, url.Parse. @throws GoUrlError */
export function parseGoUrl(text: string): GoUrl {
  const [before, fragment] = cut(bytesOf(text), "#");
  const url = withTextInError(textOf(before), () => parseWithoutFragment(before, { viaRequest: false }));
  return withTextInError(text, () => ({
    ...url,
    fragment: unescapeBytes(fragment, "fragment"),
    rawFragment: fragment,
  }));
}

/** Adds the text to the message of an error. */
function withTextInError<T>(text: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof GoUrlError) throw new GoUrlError(`parse ${quoteGo(text)}: ${error.message}`);
    throw error;
  }
}

const emptyUrl: GoUrl = {
  scheme: "",
  opaque: "",
  user: undefined,
  host: "",
  path: "",
  rawPath: "",
  rawQuery: "",
  isQueryEmpty: false,
  fragment: "",
  rawFragment: "",
  omitsHost: false,
};

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern finds control characters.
const control = /[\x00-\x1f\x7f]/;

function parseWithoutFragment(bytes: string, { viaRequest }: { readonly viaRequest: boolean }): GoUrl {
  if (control.test(bytes)) throw new GoUrlError("net/url: invalid control character in URL");
  if (bytes === "" && viaRequest) throw new GoUrlError("empty url");
  if (bytes === "*") return { ...emptyUrl, path: "*", rawPath: "*" };
  const [scheme, afterScheme] = cutScheme(bytes);
  const isQueryEmpty = afterScheme.indexOf("?") === afterScheme.length - 1 && afterScheme !== "";
  const [rest, rawQuery] = cut(afterScheme, "?");
  const url = { ...emptyUrl, scheme, rawQuery, isQueryEmpty };
  if (!rest.startsWith("/")) {
    if (scheme !== "") return { ...url, opaque: rest };
    if (viaRequest) throw new GoUrlError("invalid URI for request");
    if (cut(rest, "/")[0].includes(":")) throw new GoUrlError("first path segment in URL cannot contain colon");
  }
  if (!rest.startsWith("//") || (scheme === "" && (viaRequest || rest.startsWith("///"))))
    return {
      ...url,
      omitsHost: scheme !== "" && rest.startsWith("/"),
      path: unescapeBytes(rest, "path"),
      rawPath: rest,
    };
  const slash = rest.indexOf("/", 2);
  const [authority, path] = slash < 0 ? [rest.slice(2), ""] : [rest.slice(2, slash), rest.slice(slash)];
  return { ...url, ...parseAuthority(scheme, authority), path: unescapeBytes(path, "path"), rawPath: path };
}

/** @returns an empty scheme if there is none */
function cutScheme(bytes: string): [scheme: string, rest: string] {
  const [, scheme] = /^([A-Za-z][A-Za-z0-9+\-.]*):/.exec(bytes) ?? [];
  if (scheme !== undefined) return [scheme.toLowerCase(), bytes.slice(scheme.length + 1)];
  if (bytes.startsWith(":")) throw new GoUrlError("missing protocol scheme");
  return ["", bytes];
}

function cut(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + separator.length)];
}

function parseAuthority(scheme: string, authority: string): Pick<GoUrl, "user" | "host"> {
  const at = authority.lastIndexOf("@");
  const host = parseHost(scheme, authority.slice(at + 1));
  if (at < 0) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[\w\-.:~!$&'()*+,;=%@]*$/.test(user)) throw new GoUrlError("net/url: invalid userinfo");
  const [name, password] = cut(user, ":");
  return {
    user: {
      name: unescapeBytes(name, "user"),
      password: user.includes(":") ? unescapeBytes(password, "user") : undefined,
    },
    host,
  };
}

/** A second colon is an error for http and https only. */
function parseHost(scheme: string, host: string): string {
  const bracket = host.lastIndexOf("[");
  if (bracket > 0) throw new GoUrlError("invalid IP-literal");
  if (bracket === 0) return parseLiteral(host);
  const colon = /^https?$/.test(scheme) ? host.indexOf(":") : host.lastIndexOf(":");
  if (colon >= 0) checkPort(host.slice(colon));
  return unescapeBytes(host, "host");
}

/** Parses an IPv6 address in brackets and an optional port. */
function parseLiteral(host: string): string {
  const end = host.lastIndexOf("]");
  if (end < 0) throw new GoUrlError("missing ']' in host");
  checkPort(host.slice(end + 1));
  const literal = host.slice(1, end);
  const zone = literal.indexOf("%25");
  const name =
    zone < 0
      ? unescapeBytes(literal, "host")
      : unescapeBytes(literal.slice(0, zone), "host") + unescapeBytes(literal.slice(zone), "zone");
  if (addressOf(textOf(name)).family === 4) throw new GoUrlError("invalid IP-literal");
  return `[${name}]${host.slice(end + 1)}`;
}

function addressOf(name: string): ReturnType<typeof parseAddress> {
  try {
    return parseAddress(name);
  } catch (error) {
    if (error instanceof AddressError) throw new GoUrlError(`invalid host: ${error.message}`);
    throw error;
  }
}

function checkPort(port: string): void {
  if (!/^(?::[0-9]*)?$/.test(port)) throw new GoUrlError(`invalid port ${quoteGo(textOf(port))} after host`);
}

/** @throws GoUrlError for the first invalid escape or character */
function unescapeBytes(bytes: string, part: Part): string {
  if (part === "host" || part === "zone") checkHostBytes(bytes, part);
  const at = bytes.search(invalidEscape);
  if (at >= 0) throw new GoUrlError(`invalid URL escape ${quoteBytes(bytes.slice(at, at + 3))}`);
  const spaced = part === "query" ? bytes.replaceAll("+", " ") : bytes;
  return spaced.includes("%") ? decodeEscapes(Buffer.from(spaced, "latin1")) : spaced;
}

/** Decodes in place; a call for each of a million escapes takes ten times as long. */
function decodeEscapes(bytes: Buffer): string {
  let length = 0;
  for (let at = 0; at < bytes.length; at++) {
    const isEscape = bytes[at] === percent;
    bytes[length++] = isEscape ? hexDigit(bytes[at + 1]) * 16 + hexDigit(bytes[at + 2]) : (bytes[at] as number);
    if (isEscape) at += 2;
  }
  return bytes.toString("latin1", 0, length);
}

const percent = 0x25;

/** @param code of a valid digit */
function hexDigit(code = 0): number {
  return code <= 0x39 ? code - 0x30 : (code & 0xdf) - 0x37;
}

/** Hosts can escape non-ASCII bytes only; zones also characters that are allowed in a host. */
function checkHostBytes(bytes: string, part: "host" | "zone"): void {
  for (const [found] of bytes.matchAll(/%.{0,2}|[^\w\-.~!"$&'()*+,:;<=>[\]\x80-\xff]/gs)) {
    if (!found.startsWith("%")) throw new GoUrlError(`invalid character ${quoteGo(found)} in host name`);
    const value = /^%[0-9A-Fa-f]{2}$/.test(found) ? Number.parseInt(found.slice(1), 16) : Number.NaN;
    const isValid = part === "host" ? value >= 0x80 : value === 0x20 || isAllowedInHost(value);
    if (!isValid && found !== "%25") throw new GoUrlError(`invalid URL escape ${quoteBytes(found)}`);
  }
}

function isAllowedInHost(value: number): boolean {
  return String.fromCharCode(value).search(escapedIn.host) < 0;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern matches all of ASCII.
const encoded = /[\x00-\x7f]|[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}|[\x80-\xff]/g;

/** Quotes like Go's `%q`: invalid UTF-8 as `\xNN`. */
function quoteBytes(bytes: string): string {
  const characters = bytes.match(encoded) ?? [];
  return `"${characters.map((one) => (/^[\x80-\xff]$/.test(one) ? `\\x${one.charCodeAt(0).toString(16)}` : escapeGo(textOf(one)))).join("")}"`;
}

function escapeBytes(bytes: string, part: keyof typeof escapedIn): string {
  return bytes.replace(escapedIn[part], (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
}

/** Keeps the original escapes if they are valid, and those of this value. */
function escaped(raw: string, value: string, part: "path" | "fragment"): string {
  const isKept = keptIn[part].test(raw) && !invalidEscape.test(raw) && unescapeBytes(raw, part) === value;
  return isKept ? raw : escapeBytes(value, part);
}

/** Source: Go, url.EscapedPath */
export function escapedPath({ path, rawPath }: GoUrl): string {
  return path === "*" ? "*" : escaped(rawPath, path, "path");
}

/** Returns the host without brackets and port. */
export function hostnameOf({ host }: GoUrl): string {
  const name = host.replace(/:[0-9]*$/, "");
  return name.startsWith("[") && name.endsWith("]") ? name.slice(1, -1) : name;
}

/** Returns the port, or an empty text. */
export function portOf({ host }: GoUrl): string {
  return /:([0-9]*)$/.exec(host)?.[1] ?? "";
}

/** Parses the query and skips invalid pairs. Source: Go, url.Query */
export function queryOf({ rawQuery }: GoUrl): ReadonlyMap<string, readonly string[]> {
  const values = new Map<string, string[]>();
  if (!isReadQuery(rawQuery)) return values;
  for (const pair of rawQuery.split("&")) {
    if (pair === "" || pair.includes(";") || invalidEscape.test(pair)) continue;
    const [key, value] = cut(pair, "=").map((part) => textOf(unescapeBytes(part, "query"))) as [string, string];
    const earlier = values.get(key);
    if (earlier === undefined) values.set(key, [value]);
    else earlier.push(value);
  }
  return values;
}

/** Source: Go, url.String */
export function formatGoUrl(url: GoUrl): string {
  const query = url.isQueryEmpty || url.rawQuery !== "" ? `?${url.rawQuery}` : "";
  const fragment = url.fragment === "" ? "" : `#${escaped(url.rawFragment, url.fragment, "fragment")}`;
  const scheme = url.scheme === "" ? "" : `${url.scheme}:`;
  if (url.opaque !== "") return textOf(`${scheme}${url.opaque}${query}${fragment}`);
  const path = escapedPath(url);
  const before = scheme + formatAuthority(url);
  const rooted = path !== "" && !path.startsWith("/") && url.host !== "" ? `/${path}` : path;
  const unambiguous = before === "" && cut(path, "/")[0].includes(":") ? `./${path}` : rooted;
  return textOf(`${before}${unambiguous}${query}${fragment}`);
}

function formatAuthority({ scheme, user, host, path, omitsHost }: GoUrl): string {
  const hasAuthority = host !== "" || user !== undefined;
  if (!hasAuthority && (scheme === "" || omitsHost || path === "")) return "";
  return `//${user === undefined ? "" : `${formatUser(user)}@`}${escapeBytes(host, "host")}`;
}

/** Source: Go, url.Userinfo.String */
export function formatUser({ name, password }: NonNullable<GoUrl["user"]>): string {
  return escapeBytes(name, "user") + (password === undefined ? "" : `:${escapeBytes(password, "user")}`);
}
