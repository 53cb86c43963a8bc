/**
 * Parses URLs as Go's net/url does: more lenient than the WHATWG standard in some points, stricter
 * in others.
 */

/** The parts of a URL that validation needs. */
export interface GoUrl {
  readonly scheme: string;
  /** `user:password`; undefined when absent. */
  readonly user: string | undefined;
  /** Including the port. */
  readonly host: string;
  readonly query: string;
  readonly fragment: string;
}

/** Text that is not a URL. The message is Go's. */
export class UrlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "UrlError";
  }
}

import { quoteGo } from "../../json/quote.ts";

/**
 * Parses a URL or URL reference. Source: Go's url.Parse
 * @throws UrlError
 */
export function parseUrl(text: string): GoUrl {
  const hash = text.indexOf("#");
  const whole = hash === -1 ? text : text.slice(0, hash);
  const fragment = hash === -1 ? "" : text.slice(hash + 1);
  return withParseContext(text, () => {
    const url = parseParts(whole, { viaRequest: false });
    checkEscapes(fragment);
    return { ...url, fragment };
  });
}

/** Whether the text is an absolute URL or an absolute path. Source: Go's url.ParseRequestURI */
export function isRequestUri(text: string): boolean {
  return requestUri(text) !== undefined;
}

/**
 * Parses the URL of a request, which has no fragment. Returns undefined when the text is not one.
 */
export function requestUri(text: string): GoUrl | undefined {
  try {
    return parseParts(text, { viaRequest: true });
  } catch (error) {
    if (error instanceof UrlError) return undefined;
    throw error;
  }
}

function withParseContext<T>(text: string, parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof UrlError) throw new UrlError(`parse ${quoteGo(text)}: ${error.message}`);
    throw error;
  }
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: the URL must not contain them.
const controlCharacters = /[\u0000-\u001f\u007f]/;

function parseParts(text: string, { viaRequest }: { viaRequest: boolean }): GoUrl {
  if (controlCharacters.test(text)) throw new UrlError("net/url: invalid control character in URL");
  if (text === "" && viaRequest) throw new UrlError("empty url");
  const none = { scheme: "", user: undefined, host: "", query: "", fragment: "" };
  if (text === "*") return none;
  const { scheme, rest: afterScheme } = cutScheme(text);
  const [rest, query] = cut(afterScheme, "?");
  if (!rest.startsWith("/")) return parseWithoutRoot(rest, { ...none, scheme, query }, viaRequest);
  let authority = "";
  let path = rest;
  if (rest.startsWith("//") && (scheme !== "" || (!viaRequest && !rest.startsWith("///")))) {
    const end = rest.indexOf("/", 2);
    authority = end === -1 ? rest.slice(2) : rest.slice(2, end);
    path = end === -1 ? "" : rest.slice(end);
  }
  const { user, host } = parseAuthority(authority, scheme);
  checkEscapes(path);
  return { scheme, user, host, query, fragment: "" };
}

function parseWithoutRoot(rest: string, url: GoUrl, viaRequest: boolean): GoUrl {
  if (url.scheme !== "") return url; // Opaque, such as mailto:a@b.
  if (viaRequest) throw new UrlError("invalid URI for request");
  const [segment] = rest.split("/", 1) as [string];
  if (segment.includes(":")) throw new UrlError("first path segment in URL cannot contain colon");
  checkEscapes(rest);
  return url;
}

function cutScheme(text: string): { scheme: string; rest: string } {
  const found = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(text)?.[1];
  if (found !== undefined) return { scheme: found.toLowerCase(), rest: text.slice(found.length + 1) };
  if (text.startsWith(":")) throw new UrlError("missing protocol scheme");
  return { scheme: "", rest: text };
}

function cut(text: string, separator: string): [before: string, after: string] {
  const at = text.indexOf(separator);
  return at === -1 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function parseAuthority(authority: string, scheme: string): { user: string | undefined; host: string } {
  const at = authority.lastIndexOf("@");
  const host = authority.slice(at + 1);
  checkHost(host, scheme);
  if (at === -1) return { user: undefined, host };
  const user = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(user)) throw new UrlError("net/url: invalid userinfo");
  checkEscapes(user);
  return { user, host };
}

/** Checks a host. Hosts with several colons are allowed, except for http and https. */
function checkHost(host: string, scheme: string): void {
  if (host.startsWith("[")) {
    const end = host.lastIndexOf("]");
    if (end === -1) throw new UrlError("missing ']' in host");
    checkPort(host.slice(end + 1));
    return;
  }
  const colon = /^https?$/.test(scheme) ? host.indexOf(":") : host.lastIndexOf(":");
  if (colon !== -1) checkPort(host.slice(colon));
  const wrong = /[ \\^`{|}[\]]|%(?![89A-Fa-f][0-9A-Fa-f]|25)/.exec(host);
  if (wrong === null) return;
  if (wrong[0] === "%") throw new UrlError(`invalid URL escape ${quoteGo(host.slice(wrong.index, wrong.index + 3))}`);
  throw new UrlError(`invalid character ${quoteGo(wrong[0])} in host name`);
}

function checkPort(colonPort: string): void {
  if (!/^(?::[0-9]*)?$/.test(colonPort)) throw new UrlError(`invalid port ${quoteGo(colonPort)} after host`);
}

function checkEscapes(text: string): void {
  const wrong = /%(?![0-9A-Fa-f]{2}).{0,2}/s.exec(text);
  if (wrong !== null) throw new UrlError(`invalid URL escape ${quoteGo(wrong[0])}`);
}
