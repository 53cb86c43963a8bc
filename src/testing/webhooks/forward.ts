/** Forwards the calls of a webhook to a plain HTTP server of this machine. */
import type { IncomingMessage } from "node:http";
import { bodyOf, type ReviewCall, type ReviewFunction, textReply } from "./bridge.ts";

const loopbackHost = /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|\[::1\])$/;

/** @returns whether the host of an `http` URL is this machine */
export function isLoopback({ hostname }: URL): boolean {
  return loopbackHost.test(hostname);
}

/** Creates a function that sends each call to the URL; its query gets that of the call. */
export function forwardTo(url: URL): ReviewFunction {
  return async (call) => {
    const answer = await post(url, call);
    const body = await bodyOf(answer);
    if (body === undefined) return textReply(502, "the answer of the webhook is too large");
    const { "content-type": contentType = "application/json" } = answer.headers;
    return { status: answer.statusCode as number, contentType, body };
  };
}

/** @throws Error when there is no connection; the caller answers 500 with its message */
async function post(url: URL, { query, contentType, body }: ReviewCall): Promise<IncomingMessage> {
  const { request } = await import("node:http");
  const target = new URL(url);
  for (const [name, value] of new URLSearchParams(query)) target.searchParams.append(name, value);
  const headers = { "content-type": contentType, "content-length": body.length };
  return new Promise((resolve, reject) => {
    request(target, { method: "POST", headers }, resolve).once("error", reject).end(body);
  });
}
