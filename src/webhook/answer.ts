/**
 * Interprets responses of webhooks, with upstream's error messages.
 * Source: k8s.io/client-go@v0.36.0/rest/request.go,
 * k8s.io/apimachinery@v0.36.0/pkg/api/errors/errors.go.
 */
import { JsonSyntaxError, parseJson, type TypeMeta, TypeMetaError, typeMetaOf } from "../lib/json/parse.ts";
import { quoteGo } from "../lib/json/quote.ts";
import { survey } from "../lib/json/survey.ts";
import { decodeYaml, YamlError } from "../lib/yaml/decode.ts";
import { type WebhookAnswer, WebhookError, type WebhookStatus } from "./contract.ts";

/**
 * Checks the status code of a response.
 *
 * @throws WebhookError of kind `status` for an unsuccessful response, with the message of its
 *   Status or a generic one
 */
export function checkAnswer(answer: WebhookAnswer): void {
  if (answer.status >= 200 && answer.status <= 206) return;
  throw statusError(answer);
}

/**
 * Parses the header Retry-After.
 *
 * @returns undefined when it is missing or not a number of seconds
 */
export function retryAfterSeconds({ headers }: WebhookAnswer): number | undefined {
  const text = headers["retry-after"];
  return typeof text === "string" && /^[+-]?\d{1,9}$/.test(text) ? Number(text) : undefined;
}

/**
 * Decodes the object of a successful response as JSON or YAML, independent of its media type.
 *
 * @param expected the default for a missing apiVersion or kind; callers must check the returned
 *   `typeMeta`
 * @throws WebhookError of kind `status`, and `malformed`: `0-length response with status code: 200
 *   and content type: application/json`
 */
export function decodeAnswer(
  answer: WebhookAnswer,
  expected: TypeMeta,
): { readonly typeMeta: TypeMeta; readonly value: Record<string, unknown> } {
  checkAnswer(answer);
  if (answer.body.length === 0)
    throw new WebhookError(
      "malformed",
      `0-length response with status code: ${answer.status} and content type: ${contentTypeOf(answer)}`,
    );
  const value = decodeObject(answer.body);
  const { apiVersion, kind } = namedKind(value);
  return {
    typeMeta: { apiVersion: apiVersion || expected.apiVersion, kind: kind || expected.kind },
    value: (value ?? {}) as Record<string, unknown>, // Go decodes null as an object without fields.
  };
}

function decodeObject(body: Buffer): unknown {
  const isJson = body.length > yamlBytesMax || body.subarray(0, 1024).toString("latin1").trimStart().startsWith("{");
  try {
    return isJson ? parseBounded(body) : decodeYaml(body).value;
  } catch (error) {
    if (error instanceof JsonSyntaxError)
      throw new WebhookError("malformed", `couldn't get version/kind; json parse error: ${error.message}`);
    if (error instanceof YamlError) throw new WebhookError("malformed", error.message);
    throw error;
  }
}

/**
 * Larger bodies are decoded as JSON only. Webhooks send JSON; YAML exists for upstream's error
 * messages.
 */
const yamlBytesMax = 64 << 10;

/** The maximum nesting of JSON, which bounds recursion over the object. Go's limit is 10,000. */
const depthMax = 1000;

/** @throws JsonSyntaxError */
function parseBounded(body: Buffer): unknown {
  if (survey(body).depth > depthMax) throw new JsonSyntaxError("exceeded max depth");
  return parseJson(body).value;
}

function namedKind(value: unknown): TypeMeta {
  try {
    return typeMetaOf(value);
  } catch (error) {
    if (!(error instanceof TypeMetaError)) throw error;
    throw new WebhookError("malformed", error.message);
  }
}

function contentTypeOf({ headers }: WebhookAnswer): string {
  const type = headers["content-type"];
  return typeof type === "string" && type !== "" ? type : "application/json";
}

/** The maximum number of bytes of a text body in an error message. */
const messageMax = 2048;

function statusError(answer: WebhookAnswer): WebhookError {
  const { status: code } = answer;
  const sent = sentStatus(answer);
  const retryAfter = retryAfterSeconds(answer) ?? 0;
  const text = /^text\//.test(contentTypeOf(answer))
    ? answer.body.subarray(0, messageMax).toString().trim()
    : "unknown";
  const { reason, message } = sent ?? genericStatus(code, text);
  const status: WebhookStatus = {
    code: sent?.code ?? code,
    reason,
    retryAfterSeconds: sent?.retryAfterSeconds ?? retryAfter,
    isSent: sent !== undefined,
  };
  return new WebhookError("status", message, status);
}

interface SentStatus extends Omit<WebhookStatus, "isSent"> {
  readonly message: string;
}

/** @returns the Status in the body; undefined when the body is not a Status of a failure */
function sentStatus({ body }: WebhookAnswer): SentStatus | undefined {
  let value: unknown;
  try {
    value = parseBounded(body);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
  if (typeof value !== "object" || value === null) return undefined;
  const { kind, apiVersion, status, message, reason, code, details } = value as Record<string, unknown>;
  if (kind !== "Status" || apiVersion !== "v1" || status === "Success") return undefined;
  const seconds =
    typeof details === "object" && details !== null
      ? (details as Record<string, unknown>).retryAfterSeconds
      : undefined;
  return {
    code: typeof code === "number" ? code : 0,
    reason: typeof reason === "string" ? reason : "",
    message: typeof message === "string" ? message : "",
    retryAfterSeconds: typeof seconds === "number" ? seconds : 0,
  };
}

type Generic = readonly [reason: string, message: string | undefined];

/** By status code. Without a message, the body is the message. */
const generic: ReadonlyMap<number, Generic> = new Map<number, Generic>([
  [400, ["BadRequest", "the server rejected our request for an unknown reason"]],
  [401, ["Unauthorized", "the server has asked for the client to provide credentials"]],
  [403, ["Forbidden", undefined]],
  [404, ["NotFound", "the server could not find the requested resource"]],
  [405, ["MethodNotAllowed", "the server does not allow this method on the requested resource"]],
  [409, ["AlreadyExists", "the server reported a conflict"]],
  [415, ["UnsupportedMediaType", undefined]],
  [422, ["Invalid", "the server rejected our request due to an error in our request"]],
  [429, ["TooManyRequests", "the server has received too many requests and has asked us to try again later"]],
  [503, ["ServiceUnavailable", "the server is currently unable to handle the request"]],
  [
    504,
    [
      "Timeout",
      "the server was unable to return a response in the time allotted, but may still be processing the request",
    ],
  ],
]);

function genericStatus(code: number, text: string): { reason: string; message: string } {
  if (code === 406) {
    const none = text === "" || text === "unknown";
    return {
      reason: "NotAcceptable",
      message: none ? "the server was unable to respond with a content type that the client supports" : text,
    };
  }
  const entry = generic.get(code);
  if (entry !== undefined) return { reason: entry[0], message: entry[1] ?? text };
  if (code >= 500)
    return {
      reason: "InternalError",
      message: `an error on the server (${quoteGo(text)}) has prevented the request from succeeding`,
    };
  return {
    reason: "",
    message: `the server responded with the status code ${code} but did not return more information`,
  };
}
