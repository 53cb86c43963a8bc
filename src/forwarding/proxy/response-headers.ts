/**
 * The headers of a response to the client: those of this server, and those of the backend after
 * them. Source: Go's httputil.ReverseProxy.
 */
import type { IncomingMessage } from "node:http";
import { ApiError } from "../../apimachinery/errors.ts";
import { http2HeaderBytesMax, isBodiless, isCarriable, isOfConnection } from "../../request/carriable.ts";
import type { AnswerHeaders, Exchange } from "../../request/exchange.ts";
import { isHopByHop, listedInConnection } from "./hop-by-hop.ts";

/** The headers of a backend: a list of values by lower-case name. */
export type BackendHeaders = Map<string, string[]>;

/**
 * Collects the headers of a response, without those of the connection.
 * @param rawHeaders names and values in turn
 */
export function backendHeaders(rawHeaders: readonly string[]): BackendHeaders {
  const headers: BackendHeaders = new Map();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const key = (rawHeaders[at] as string).toLowerCase();
    const values = headers.get(key);
    if (values === undefined) headers.set(key, [rawHeaders[at + 1] as string]);
    else values.push(rawHeaders[at + 1] as string);
  }
  const listed = listedInConnection(headers.get("connection")?.join(",") ?? "");
  for (const key of headers.keys()) if (isHopByHop(key) || listed.has(key)) headers.delete(key);
  return headers;
}

/** Headers that would let pages of other origins read the response. */
const crossOrigin = [
  "access-control-allow-credentials",
  "access-control-allow-headers",
  "access-control-allow-methods",
  "access-control-allow-origin",
];

/** Removes the permissions of other origins, which a backend cannot give for this server. */
export function removeCrossOrigin(headers: BackendHeaders): void {
  for (const key of crossOrigin) headers.delete(key);
}

/**
 * Checks whether a response can be forwarded, and removes what the connection to the client cannot have. Closes the
 * connection to the backend otherwise.
 * @param headers of the response
 * @param host of the backend, for the error
 * @throws ApiError 502
 */
export function checkForwardable(
  message: Pick<IncomingMessage, "statusCode" | "destroy">,
  headers: BackendHeaders,
  { protocol, host }: { readonly protocol: Exchange["protocol"]; readonly host: string },
): void {
  const status = message.statusCode as number;
  const fail = (what: string): ApiError => {
    message.destroy();
    return new ApiError({ code: 502, message: `the response of the backend ${host} cannot be forwarded: ${what}` });
  };
  if (!isCarriable(status, protocol)) throw fail(`${protocol} cannot carry the status code ${status}`);
  if (isBodiless(status, protocol)) headers.delete("content-length");
  let bytes = 0;
  for (const [name, values] of headers) {
    if (isOfConnection(name, protocol)) headers.delete(name);
    for (const value of values) {
      if (name === "" || !/^[!#$%&'*+.^`|~\w-]*$/.test(name)) throw fail("the name of a header is not valid");
      if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw fail(`the value of the header ${name} is not valid`);
      bytes += name.length + value.length + headerOverhead;
    }
  }
  if (protocol === "HTTP/2.0" && bytes > http2HeaderBytesMax) throw fail(`its headers have ${bytes} bytes`);
}

/** Source: RFC 9113, section 6.5.2, SETTINGS_MAX_HEADER_LIST_SIZE. */
const headerOverhead = 32;

/** Appends the headers of the backend to those of this server. */
export function joinHeaders(own: AnswerHeaders, backend: BackendHeaders): AnswerHeaders {
  const joined: AnswerHeaders = { ...own };
  for (const [key, values] of backend) {
    const all = [own[key] ?? [], values].flat();
    joined[key] = all.length === 1 ? (all[0] as string) : all;
  }
  return joined;
}
