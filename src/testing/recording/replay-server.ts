/** Serves a recording: each request must be one of the recorded ones, in their order. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from "node:http";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { capture } from "./capture.ts";
import type { RecordedBody, RequestLine } from "./format.ts";
import { recordedBody } from "./read-body.ts";
import { type RecordedRequest, type Replay, startReplay } from "./replay.ts";
import { requestLine, titleOfRequest } from "./request-line.ts";
import { newSecrets } from "./secrets.ts";
import { readTarget } from "./target.ts";
import { openTlsEndpoint } from "./tls-endpoint.ts";

export interface ReplayOptions {
  readonly recorded: readonly RecordedRequest[];
  /** How long a request waits for those that precede it, in milliseconds. */
  readonly patienceMs: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Is called with each request that differs from the recording. */
  readonly onMismatch: (problem: string) => void;
}

/** A running replay. */
export interface ReplayServer {
  readonly kubeconfig: string;
  /** The recorded requests that the client has not sent. */
  rest(): readonly RecordedRequest[];
  close(): Promise<void>;
}

/** Of one request. */
const bodyBytesMax = 32 << 20;

/** Starts the server on a free port of 127.0.0.1. */
export async function openReplayServer(options: ReplayOptions): Promise<ReplayServer> {
  const { server, kubeconfig, close } = await openTlsEndpoint(options.now);
  const replay = startReplay(options.recorded);
  const closing = new AbortController();
  const context = { replay, options, signal: closing.signal, shiftMs: options.now - startOf(options) };
  server.on("request", (request, response) => {
    answer(request, response, context).catch((error: Error) => {
      if (error.name === "AbortError") return; // The replay ends while the request waits.
      reject(response, `${request.method} ${request.url}: ${error.message}`, options);
    });
  });
  server.on("upgrade", (request, socket) => {
    answerUpgrade(request, socket, context).catch((error: Error) => {
      if (error.name !== "AbortError") throw error;
    });
  });
  return {
    kubeconfig,
    rest: () => replay.rest(),
    close() {
      closing.abort();
      return close();
    },
  };
}

interface Context {
  readonly replay: Replay;
  readonly options: ReplayOptions;
  readonly signal: AbortSignal;
  /** How long ago the session was recorded. */
  readonly shiftMs: number;
}

/** @returns the time of the first answer that has one */
function startOf({ recorded, now }: ReplayOptions): number {
  for (const { answer } of recorded) {
    const at = Date.parse(answer?.headers.date ?? "");
    if (!Number.isNaN(at)) return at;
  }
  return now;
}

async function answer(request: IncomingMessage, response: ServerResponse, context: Context): Promise<void> {
  const { replay, options } = context;
  const received = await readRequest(request);
  const title = titleOfRequest(received);
  const found = replay.take(received);
  if (typeof found === "string") return reject(response, `${title}: ${found}`, options);
  if (!(await isInTime(found, context)))
    return reject(response, `${title}: ${titleOf(replay.missing(found)[0])} was recorded before it`, options);
  if (found.answer === undefined) return reject(response, `${title}: the recording has no answer`, options);
  const { status, headers, body, isWatch } = found.answer;
  if (body !== undefined && "omitted" in body)
    return reject(response, `${title}: the answer was not recorded: ${body.omitted}`, options);
  response.writeHead(status, headersOf(shifted(headers, context.shiftMs), body ?? found.events[0]?.body));
  if (isWatch !== true) return void response.end(bytesOf(body));
  response.flushHeaders();
  await sendEvents(found, response, context);
}

/** The request as it would be recorded: secrets match placeholders. */
async function readRequest(request: IncomingMessage): Promise<RequestLine["request"]> {
  const secrets = newSecrets();
  const target = readTarget(request.url as string, secrets);
  const bytes = await capture(request, bodyBytesMax);
  if (bytes === undefined) throw new Error(`its body has more than ${bodyBytesMax} bytes`);
  const { "content-type": contentType = "", "content-encoding": contentEncoding = "" } = request.headers;
  const options = { secrets, confidential: target.confidential, keepsLastApplied: true };
  const body = recordedBody({ bytes, contentType, contentEncoding }, target, options);
  return { ...requestLine(request, target), ...(body !== undefined && { body }) };
}

async function isInTime(found: RecordedRequest, { replay, options, signal }: Context): Promise<boolean> {
  if (replay.missing(found).length === 0) return true;
  const stop = new AbortController();
  try {
    const end = delay(options.patienceMs, false, { signal: AbortSignal.any([signal, stop.signal]) });
    return await Promise.race([replay.ready(found).then(() => true), end]);
  } finally {
    stop.abort();
  }
}

async function sendEvents(
  found: RecordedRequest,
  response: ServerResponse,
  { replay, options }: Context,
): Promise<void> {
  for (const { at, body } of found.events) {
    await replay.ready(found, at);
    if (body === undefined) return void response.end();
    if ("omitted" in body) {
      options.onMismatch(`${titleOf(found)}: an event was not recorded: ${body.omitted}`);
      return void response.destroy();
    }
    response.write(`${bytesOf(body)}\n`);
  }
}

/** Moves the session to the present, so that clients cache answers as long as they did. */
function shifted(headers: Readonly<Record<string, string>>, ms: number): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      const at = name === "date" || name === "expires" ? Date.parse(value) : Number.NaN;
      const isDate = !Number.isNaN(at) && new Date(at).toUTCString() === value; // Not a number such as 0.
      return [name, isDate ? new Date(at + ms).toUTCString() : value];
    }),
  );
}

/** Objects are sent as JSON, whatever their encoding was. The parameters of JSON are kept: they name the kind. */
function headersOf(headers: Readonly<Record<string, string>>, body: RecordedBody | undefined): Record<string, string> {
  const isOther = body !== undefined && "json" in body && !/^application\/json\b/.test(headers["content-type"] ?? "");
  return { ...headers, ...(isOther && { "content-type": "application/json" }) };
}

function bytesOf(body: RecordedBody | undefined): string | Buffer {
  if (body === undefined || "omitted" in body) return "";
  if ("text" in body) return body.text;
  return "base64" in body ? Buffer.from(body.base64, "base64") : encodeAny(body.json);
}

function reject(response: ServerResponse, problem: string, { onMismatch }: ReplayOptions): void {
  onMismatch(problem);
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    reason: "InternalError",
    code: 500,
  };
  const text = JSON.stringify({ ...status, message: `The request differs from the recording: ${problem}` });
  if (!response.headersSent) response.writeHead(500, { "content-type": "application/json" });
  response.end(text);
}

/** The server may have rejected the upgrade: this can be replayed. */
async function answerUpgrade(request: IncomingMessage, socket: Duplex, context: Context): Promise<void> {
  const { replay, options } = context;
  socket.on("error", () => socket.destroy());
  const received = requestLine(request, readTarget(request.url as string, newSecrets()));
  const found = replay.take(received);
  const problem = typeof found === "string" ? found : await upgradeProblem(found, context);
  if (problem !== undefined) options.onMismatch(`${titleOfRequest(received)}: ${problem}`);
  const status = typeof found === "string" || problem !== undefined ? 500 : found.answer?.status;
  const text = problem ?? "";
  const head = `HTTP/1.1 ${status} ${STATUS_CODES[status ?? 500] ?? ""}\r\nContent-Length: ${Buffer.byteLength(text)}\r\n`;
  socket.end(`${head}Connection: close\r\n\r\n${text}`);
}

async function upgradeProblem(found: RecordedRequest, context: Context): Promise<string | undefined> {
  if (!(await isInTime(found, context))) return `${titleOf(context.replay.missing(found)[0])} was recorded before it`;
  if (found.answer === undefined) return "the recording has no answer";
  return found.answer.status === 101 ? "the content of connections is not recorded" : undefined;
}

/** Method, path and query of a recorded request. */
export function titleOf(recorded: RecordedRequest | undefined): string {
  if (recorded === undefined) return "another request";
  return titleOfRequest(recorded.request);
}
