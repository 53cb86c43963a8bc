/**
 * The spans of calls of etcd. Source:
 * go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc@v0.65.0/stats_handler.go.
 */
import { activeSpan, inSpan, runInScope, type Span } from "../../../apimachinery/spans.ts";

interface Call {
  /** Such as `/etcdserverpb.KV/Txn`. */
  readonly path: string;
  readonly request: Buffer;
}

/** Makes a call as a part of the active span, if there is one. @param send receives the headers of the trace */
export function tracedCall(
  { path, request }: Call,
  send: (headers: Readonly<Record<string, string>> | undefined) => Promise<Buffer>,
): Promise<Buffer> {
  if (activeSpan() === undefined) return send(undefined);
  return inSpan(started(path), async (span) => {
    addMessage(span, "SENT", request.length);
    const response = await send(span?.headers());
    addMessage(span, "RECEIVED", response.length);
    span?.setAttributes({ "rpc.response.status_code": "OK" });
    return response;
  });
}

const noScope = { current: undefined };

/** Runs a call that several requests share, and that is a part of none of them. */
export function outsideRequests<Result>(run: () => Promise<Result>): Promise<Result> {
  return runInScope(noScope, run);
}

/** Waits for a call of this method that the request shares with others, in a span of its own. */
export function sharedCall<Result>(path: string, wait: () => Promise<Result>): Promise<Result> {
  if (activeSpan() === undefined) return wait();
  return inSpan(started(path), async (span) => {
    addMessage(span, "SENT");
    const result = await wait();
    addMessage(span, "RECEIVED");
    return result;
  });
}

function started(path: string) {
  const method = path.slice(1);
  const attributes = { "rpc.method": method, "rpc.system.name": "grpc" };
  return { name: method, kind: "client", attributes: () => attributes } as const;
}

function addMessage(span: Span | undefined, type: "SENT" | "RECEIVED", bytes?: number): void {
  const size = bytes !== undefined && { "rpc.message.uncompressed_size": bytes };
  span?.addEvent("message", { "rpc.message.type": type, "rpc.message.id": 1, ...size });
}
