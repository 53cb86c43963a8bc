/**
 * Forwards a request for another protocol, such as SPDY or a WebSocket, and then all bytes of both
 * connections. Source: `tryUpgrade` in
 * k8s.io/apimachinery@v0.36.0/pkg/util/proxy/upgradeaware.go.
 */
import type { Duplex } from "node:stream";
import type { Clock } from "../../apimachinery/clock.ts";
import { type ApiError, plainError } from "../../apimachinery/errors.ts";
import { isBodiless } from "../../request/carriable.ts";
import type { RequestState } from "../../request/context.ts";
import type { UpgradeRequest } from "../../request/exchange.ts";
import { WebhookError } from "../../webhook/contract.ts";
import type { OpenBackend, ProxyOptions, ProxyTarget } from "./contract.ts";
import { failureText, upgradeFailureText } from "./failure-text.ts";
import { forwardBody } from "./forward-body.ts";
import { hostOf, requestHeaders } from "./request-headers.ts";
import { backendHeaders, checkForwardable, joinHeaders } from "./response-headers.ts";
import { escapePath } from "./rewrite-url.ts";
import { type BackendRequest, type BackendResponse, sendRequest } from "./send-request.ts";
import { throttled } from "./throttled.ts";

/** The time in which an unsuccessful response is forwarded, as upstream. */
const failedResponseMs = 10_000;
/** The time in which the rest of a connection must be read after the other one has ended. */
const lingerMs = 30_000;

/**
 * Forwards an upgrade, and resolves when one of the connections has ended.
 *
 * @throws ApiError 500 when the backend does not answer, or with a status below 400
 */
export async function proxyUpgrade(
  context: RequestState,
  upgrade: UpgradeRequest,
  options: ProxyOptions,
  signal: AbortSignal,
): Promise<void> {
  context.exchange.entered?.("open backend");
  const { message, upgraded } = await send(context, upgrade, options, signal);
  const status = message.statusCode as number;
  if (upgraded === undefined) {
    if (status < 400) {
      message.destroy();
      throw plainError(`invalid upgrade response: status code ${status}`);
    }
    return forwardFailure(context, message, options);
  }
  context.exchange.entered?.("read backend");
  const client = upgrade.take(status);
  client.write(headOf(message));
  if (upgraded.head.length > 0) client.write(upgraded.head);
  await joinSockets(client, upgraded.socket, options);
}

async function send(
  { exchange }: RequestState,
  upgrade: UpgradeRequest,
  { target, usesTargetHost, headers }: ProxyOptions,
  signal: AbortSignal,
): Promise<BackendResponse> {
  const path = escapePath(target.path);
  const query = target.upgradeQuery ?? "";
  const request = {
    method: exchange.method,
    path: `${path.startsWith("/") ? "" : "/"}${path}${query === "" ? "" : `?${query}`}`,
    headers: requestHeaders(exchange, {
      host: hostOf(exchange, { target, usesTargetHost }),
      forwardedUri: undefined,
      upgrade: upgrade.protocol,
      ...(headers !== undefined && { headers }),
    }),
  };
  return sendUpgrade(target.open, request, signal);
}

/**
 * Sends a request for an upgrade.
 * @throws ApiError 500 when the backend does not answer
 */
export async function sendUpgrade(
  open: OpenBackend,
  request: Omit<BackendRequest, "body">,
  signal: AbortSignal,
): Promise<BackendResponse> {
  let isOpen = false;
  const opened: OpenBackend = async (aborted) => {
    const socket = await open(aborted);
    isOpen = true;
    return socket;
  };
  try {
    return await sendRequest(opened, request, signal);
  } catch (error) {
    throw upgradeFailure(error, isOpen);
  }
}

/** Upstream reports failures before the response differently. */
function upgradeFailure(error: unknown, isOpen: boolean): ApiError | unknown {
  const text = isOpen ? upgradeFailureText(error) : failureText(error);
  if (text === undefined) return error;
  return plainError(isOpen ? text : `error dialing backend: ${text}`);
}

/** Forwards an unsuccessful response with the headers of the backend alone. */
export async function forwardFailure(
  { exchange }: RequestState,
  message: BackendResponse["message"],
  { target: { host }, clock }: { readonly target: Pick<ProxyTarget, "host">; readonly clock: Clock },
): Promise<void> {
  const { protocol } = exchange;
  const status = message.statusCode as number;
  const headers = backendHeaders(message.rawHeaders);
  checkForwardable(message, headers, { protocol, host });
  if (isBodiless(status, protocol)) {
    message.destroy();
    return exchange.stream(status, joinHeaders({}, headers)).end();
  }
  const cancel = clock.after(failedResponseMs, () =>
    message.destroy(new WebhookError("timeout", "the response took too long")),
  );
  await forwardBody(message, exchange.stream(status, joinHeaders({}, headers)));
  cancel();
}

/** The status line and the headers as the backend has sent them. */
function headOf({ statusCode, statusMessage, rawHeaders }: BackendResponse["message"]): Buffer {
  const lines = [`HTTP/1.1 ${statusCode} ${statusMessage}`];
  for (let at = 0; at < rawHeaders.length; at += 2) lines.push(`${rawHeaders[at]}: ${rawHeaders[at + 1]}`);
  return Buffer.from(`${lines.join("\r\n")}\r\n\r\n`, "latin1");
}

/**
 * Copies each connection to the other one, at the pace of the reader and of the limit. When one ends, the other one
 * gets the bytes that were received, and ends, too.
 */
export function joinSockets(
  one: Duplex,
  other: Duplex,
  { clock, bytesPerSecondMax = 0 }: Pick<ProxyOptions, "clock" | "bytesPerSecondMax">,
): Promise<void> {
  return new Promise((resolve) => {
    const pair = [one, other];
    const fromOne = throttled(one, bytesPerSecondMax, clock);
    const fromOther = throttled(other, bytesPerSecondMax, clock);
    let open = 2;
    let cancel: (() => void) | undefined;
    const finish = (): void => {
      cancel ??= clock.after(lingerMs, () => {
        for (const socket of pair) socket.destroy();
      });
      for (const socket of pair) socket.end(() => socket.destroy());
    };
    for (const source of [fromOne, fromOther]) source.on("end", finish);
    for (const socket of pair) {
      socket.on("error", () => socket.destroy());
      socket.once("close", () => {
        finish();
        open--;
        if (open > 0) return;
        cancel?.();
        resolve();
      });
    }
    fromOne.pipe(other);
    fromOther.pipe(one);
  });
}
