/**
 * The headers of a response to the client: those of this server, and those of the backend after
 * them. Source: Go's httputil.ReverseProxy.
 */
import type { AnswerHeaders } from "../http/contract.ts";
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

/** Appends the headers of the backend to those of this server. */
export function joinHeaders(own: AnswerHeaders, backend: BackendHeaders): AnswerHeaders {
  const joined: AnswerHeaders = { ...own };
  for (const [key, values] of backend) {
    const all = [own[key] ?? [], values].flat();
    joined[key] = all.length === 1 ? (all[0] as string) : all;
  }
  return joined;
}
