/**
 * Errors for answers of kubelets to requests for logs. Source: k8s.io/apiserver@v0.36.0, streamer.go and
 * response_checker.go in pkg/registry/generic/rest, and `NewGenericServerResponse` in
 * k8s.io/apimachinery@v0.36.0/pkg/api/errors/errors.go.
 */
import type { IncomingMessage } from "node:http";
import { ApiError, badRequest, internalError, plainError } from "../../apimachinery/errors.ts";
import { isRedirectStatus } from "../../lib/go-net/redirect.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { readStart } from "./read-start.ts";

/** How much of an error's text is read. */
const errorBytesMax = 50_000;

/**
 * @param url of the request
 * @returns undefined if the answer is a log
 */
export async function logError(message: IncomingMessage, url: string, name: string): Promise<ApiError | undefined> {
  const status = message.statusCode as number;
  const redirect = isRedirectStatus(status) ? redirectError(message, url) : undefined;
  if (redirect === undefined && status >= 200 && status <= 206) return undefined;
  const error = redirect ?? errorOf(status, await errorText(message), name);
  message.destroy();
  return error;
}

/** The error of Go's client, which quotes the URL that it would request next. */
function redirectError({ headers: { location }, statusCode }: IncomingMessage, url: string): ApiError {
  if (location === undefined) return plainError(`Get "${url}": ${statusCode} response missing Location header`);
  const next = URL.canParse(location, url) ? new URL(location, url).href : location;
  return plainError(`Get "${next}": redirects forbidden`);
}

async function errorText(message: IncomingMessage): Promise<string> {
  const text = await readStart(message, errorBytesMax);
  if (text === undefined) throw internalError("unexpected EOF");
  return text;
}

function errorOf(code: number, text: string, name: string): ApiError {
  if (code === 500) return internalError(text);
  if (code === 400) return badRequest(text);
  const [reason, message] = knownStatuses[code] ?? unknownStatus(code, text);
  return new ApiError({
    code,
    ...(reason !== "" && { reason }),
    message: `${message ?? text} ( pods/log ${name})`,
    details: { name, kind: "pods/log" },
  });
}

/** Reasons and messages; without a message, the error has that of the kubelet. */
const knownStatuses: Readonly<Record<number, readonly [reason: string, message?: string]>> = {
  401: ["Unauthorized", "the server has asked for the client to provide credentials"],
  403: ["Forbidden"],
  404: ["NotFound", "the server could not find the requested resource"],
  405: ["MethodNotAllowed", "the server does not allow this method on the requested resource"],
  406: ["NotAcceptable"],
  409: ["Conflict", "the server reported a conflict"],
  415: ["UnsupportedMediaType"],
  422: ["Invalid", "the server rejected our request due to an error in our request"],
  429: ["TooManyRequests", "the server has received too many requests and has asked us to try again later"],
  503: ["ServiceUnavailable", "the server is currently unable to handle the request"],
  504: [
    "Timeout",
    "the server was unable to return a response in the time allotted, but may still be processing the request",
  ],
};

function unknownStatus(code: number, text: string): readonly [reason: string, message: string] {
  if (code > 500)
    return ["InternalError", `an error on the server (${quoteGo(text)}) has prevented the request from succeeding`];
  return ["", `the server responded with the status code ${code} but did not return more information`];
}
