/**
 * Probes /healthz over TLS without verifying the certificate.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/probe/http/http.go.
 */
import type { IncomingMessage } from "node:http";
import type net from "node:net";
import { createSecureContext } from "node:tls";
import { connect, formatAddress, streamError } from "./connect.ts";
import { type Address, WebhookError } from "./contract.ts";

/** The result of a probe: a condition status of ComponentStatus. */
export interface ProbeResult {
  readonly status: "True" | "False" | "Unknown";
  readonly message?: string;
  readonly error?: string;
}

const bodyBytesMax = 10 * 1024;

/**
 * Not imported, because an import evaluates all exports, and WebSocket loads undici: 15 ms at
 * startup.
 */
const http = process.getBuiltinModule("node:http");

/**
 * Probes a component. Does not follow redirects, and reports them like upstream's redirects to
 * another host.
 *
 * @param timeoutMs the limit for the whole probe
 */
export async function probeHealth(
  address: Address,
  { timeoutMs = 20_000 }: { readonly timeoutMs?: number } = {},
): Promise<ProbeResult> {
  const signal = AbortSignal.timeout(timeoutMs);
  let response: IncomingMessage;
  try {
    response = await request(address, signal, timeoutMs);
  } catch (error) {
    return {
      status: "False",
      message: `Get "https://${formatAddress(address)}/healthz": ${requestProblem(error as Error, signal)}`,
    };
  }
  try {
    return resultOf(response.statusCode as number, await readBody(response));
  } catch (error) {
    return { status: "Unknown", error: signal.aborted ? "context deadline exceeded" : messageOf(error as Error) };
  } finally {
    response.destroy();
  }
}

async function request(address: Address, signal: AbortSignal, timeoutMs: number): Promise<IncomingMessage> {
  const tls = { context: createSecureContext(), serverName: address.host, insecureSkipTlsVerify: true };
  const socket = await connect({ ...address, tls, timeoutMs });
  const headers = { host: formatAddress(address), "user-agent": "kube-probe/1.36", accept: "*/*", connection: "close" };
  return new Promise((resolve, reject) => {
    const sent = http.request({ createConnection: () => socket as net.Socket, path: "/healthz", headers, signal });
    sent.once("response", resolve).once("error", reject).end();
  });
}

/** Reads the body up to the limit. */
async function readBody(response: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response) {
    pieces.push(piece as Buffer);
    bytes += (piece as Buffer).length;
    if (bytes >= bodyBytesMax) break;
  }
  return Buffer.concat(pieces).subarray(0, bodyBytesMax).toString();
}

function resultOf(code: number, body: string): ProbeResult {
  if (code >= 400 || code < 200) return { status: "False", message: `HTTP probe failed with statuscode: ${code}` };
  if (code >= 300) return { status: "Unknown", message: `Probe terminated redirects, Response body: ${body}` };
  return { status: "True", ...(body !== "" && { message: body }) };
}

function requestProblem(error: Error, { aborted }: AbortSignal): string {
  const isTimeout = aborted || (error instanceof WebhookError && error.kind === "timeout");
  return isTimeout ? "context deadline exceeded (Client.Timeout exceeded while awaiting headers)" : messageOf(error);
}

function messageOf(error: Error): string {
  return error instanceof WebhookError ? error.message : (streamError(error)?.message ?? error.message);
}
