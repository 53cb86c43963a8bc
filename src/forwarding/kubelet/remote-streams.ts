/**
 * The streams of a command in a container, over SPDY. Source: k8s.io/client-go@v0.36.0/tools/remotecommand, and
 * k8s.io/streaming@v0.36.0/pkg/httpstream/spdy.
 */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";
import { type ApiError, internalError } from "../../apimachinery/errors.ts";
import { isRedirectStatus } from "../../lib/go-net/redirect.ts";
import { SpdyConnection, type SpdyStream } from "../../lib/spdy/connection.ts";
import { SpdyError } from "../../lib/spdy/spdy-error.ts";
import type { FailingExchange } from "../../request/boundary.ts";
import type { OpenBackend } from "../proxy/contract.ts";
import { upgradeFailureText } from "../proxy/failure-text.ts";
import { type BackendResponse, sendRequest } from "../proxy/send-request.ts";
import type { KubeletLocation } from "./contract.ts";
import { requestOf, urlOf } from "./pod-location.ts";
import { readStart } from "./read-start.ts";

/** The streams that a client requests. */
export interface RequestedStreams {
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

/** Open streams; those that were not requested are undefined. */
export interface RemoteStreams {
  readonly connection: SpdyConnection;
  /** The version of the protocol, which decides the form of errors; 1 to 5. */
  readonly version: number;
  readonly error: Duplex;
  readonly stdin: Duplex | undefined;
  readonly stdout: Duplex | undefined;
  readonly stderr: Duplex | undefined;
  readonly resize: Duplex | undefined;
}

/** How this server reaches the kubelet. */
export interface RemoteTarget {
  readonly location: KubeletLocation;
  readonly open: OpenBackend;
  readonly clock: Clock;
  /** The request, which ends when a callback of the connection throws. */
  readonly exchange: FailingExchange;
}

/** The protocols of commands, the newest first. */
const protocols = [5, 4, 3, 2, 1].map((version) => `${version === 1 ? "" : `v${version}.`}channel.k8s.io`);

/** The time in which a kubelet must accept a stream. */
const streamMs = 30_000;

/**
 * @param signal closes the connection
 * @throws ApiError 500 with the error of client-go
 */
export async function openRemoteStreams(
  { location, open, clock, exchange }: RemoteTarget,
  { stdin, stdout, stderr, tty }: RequestedStreams,
  signal: AbortSignal,
): Promise<RemoteStreams> {
  exchange.entered?.("open backend");
  const { message, upgraded } = await request(location, open, signal);
  if (upgraded === undefined || !isSpdy(message)) {
    upgraded?.socket.destroy();
    const text = await errorText(message);
    message.destroy(); // A response without an upgrade can have a body without an end.
    throw internalError(`unable to upgrade connection: ${text}`);
  }
  const connection = new SpdyConnection(upgraded.socket, upgraded.head, {
    role: "client",
    onStream: () => false,
    failed: (error) => exchange.fail(error),
  });
  signal.addEventListener("abort", () => {
    connection.close();
    upgraded.socket.destroy(); // The kubelet may not read what is left.
  });
  const version = versionOf(message);
  const openOne = async (type: string): Promise<Duplex> => {
    const opened = connection.openStream(new Map([["streamtype", [type]]]));
    const { data } = await within(opened, clock);
    return data;
  };
  try {
    return {
      connection,
      version,
      error: await openOne("error"),
      stdin: stdin ? await openOne("stdin") : undefined,
      stdout: stdout ? await openOne("stdout") : undefined,
      stderr: stderr && !tty ? await openOne("stderr") : undefined,
      resize: tty && version >= 3 ? await openOne("resize") : undefined,
    };
  } catch (error) {
    connection.close();
    throw error instanceof SpdyError ? internalError(error.message) : error;
  }
}

async function request(location: KubeletLocation, open: OpenBackend, signal: AbortSignal): Promise<BackendResponse> {
  const { path, headers } = requestOf(location);
  const all = [
    ...headers,
    ...["content-length", "0"],
    ...protocols.flatMap((protocol) => ["x-stream-protocol-version", protocol]),
    ...["connection", "Upgrade", "upgrade", "SPDY/3.1"],
  ];
  let response: BackendResponse;
  try {
    response = await sendRequest(open, { method: "POST", path, headers: all }, signal);
  } catch (error) {
    throw sendingError(location, upgradeFailureText(error), error);
  }
  const { location: next } = response.message.headers;
  if (!isRedirectStatus(response.message.statusCode as number) || next === undefined) return response;
  response.message.destroy();
  const url = URL.canParse(next, urlOf(location)) ? new URL(next, urlOf(location)).href : next;
  throw internalError(`error sending request: Post "${url}": redirect not allowed`);
}

function sendingError(location: KubeletLocation, text: string | undefined, error: unknown): ApiError | unknown {
  if (text === undefined) return error;
  return internalError(`error sending request: Post "${urlOf(location)}": ${text}`);
}

function isSpdy({ headers }: IncomingMessage): boolean {
  return /upgrade/i.test(headers.connection ?? "") && /spdy\/3\.1/i.test(headers.upgrade ?? "");
}

function versionOf({ headers }: IncomingMessage): number {
  const protocol = headers["x-stream-protocol-version"];
  const index = protocols.indexOf(String(protocol ?? "channel.k8s.io"));
  return index < 0 ? 1 : protocols.length - index;
}

/** How much of an error's text is read. */
const errorBytesMax = 64 << 10;

/** The message of a Status, the error of another object, or the text. */
async function errorText(message: IncomingMessage): Promise<string> {
  if (message.statusCode === 101) return "empty server response";
  const text = (await readStart(message, errorBytesMax)) ?? "unable to read error from server response";
  const said = messageOf(text) ?? text.trim();
  return said === "" ? "empty server response" : said;
}

function messageOf(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
  const { message, error } = (value ?? {}) as Record<string, unknown>;
  return [message, error].map((one) => (typeof one === "string" ? one.trim() : "")).find((one) => one !== "");
}

/** @throws ApiError 500 after {@link streamMs} */
function within(opened: Promise<SpdyStream>, clock: Clock): Promise<SpdyStream> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(streamMs, () => reject(internalError("Timeout occurred")));
    opened.finally(cancel).then(resolve, reject);
  });
}
