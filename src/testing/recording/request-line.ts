import type { IncomingMessage } from "node:http";
import type { RequestLine } from "./format.ts";
import type { Target } from "./target.ts";

/** A request without its body, as a recording contains it: without its other headers. */
export function requestLine(
  { method = "GET", headers }: IncomingMessage,
  { path, query }: Target,
): RequestLine["request"] {
  const { accept, "content-type": contentType, "user-agent": userAgent } = headers;
  return {
    method,
    path,
    query,
    ...(accept !== undefined && { accept }),
    ...(contentType !== undefined && { contentType }),
    ...(userAgent !== undefined && { userAgent }),
  };
}

/** Method, path and query of a request, for messages. */
export function titleOfRequest({ method, path, query }: RequestLine["request"]): string {
  const text = query.map(([name, value]) => `${name}=${value}`).join("&");
  return `${method} ${path}${text === "" ? "" : `?${text}`}`;
}
