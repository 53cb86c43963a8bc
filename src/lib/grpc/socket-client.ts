/**
 * Calls a service on a Unix socket, such as a plugin of the server. Errors are those of gRPC for Go.
 * Source: google.golang.org/grpc@v1.79.3/codes/code_string.go.
 */
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { ProtobufError } from "../protobuf/reader.ts";
import { decodeMessage, encodeMessage, type Message } from "./codec.ts";
import { callUnary } from "./unary-call.ts";

/** A call that failed, or an answer that cannot be used. */
export class CallError extends Error {
  /** The name of the status in Go. */
  readonly code: string;

  constructor(message: string, code = "unknown-non-grpc") {
    super(message);
    this.code = code;
  }

  /** @returns the same error with a text before the message */
  within(lead: string): CallError {
    return new CallError(`${lead}: ${this.message}`, this.code);
  }
}

/** A method with one request and one response. */
export interface Method {
  /** Such as `/v1.ExternalJWTSigner/Sign`. */
  readonly path: string;
  readonly request: Message;
  readonly response: Message;
}

export interface SocketClient {
  /** Waits for the service until the time is over. @throws CallError */
  call<T>(method: Method, argument: object, timeoutMs: number): Promise<T>;
  close(): void;
}

/**
 * Opens a client.
 *
 * @param endpoint the path of a socket, or `@` and the name of an abstract one
 * @param called receives each call that ended
 */
export function socketClient(
  endpoint: string,
  called: (path: string, code: string, milliseconds: number) => void,
): SocketClient {
  const client = new Client(`unix:${endpoint.replace(/^@/, "\0")}`, credentials.createInsecure(), {
    "grpc.default_authority": "localhost",
    "grpc.enable_retries": 0,
    "grpc.enable_channelz": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.min_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1_000,
  });
  return {
    async call<T>({ path, request, response }: Method, argument: object, timeoutMs: number): Promise<T> {
      const startedAt = performance.now();
      const ended = (code: string): void => called(path, code, performance.now() - startedAt);
      try {
        const bytes = await callUnary(
          client.getChannel(),
          path,
          encodeMessage(request, argument),
          Date.now() + timeoutMs,
          { waitForReady: true },
        );
        const answer = decodeMessage<T>(response, bytes);
        ended("OK");
        return answer;
      } catch (error) {
        const failure = callError(error);
        ended(failure.code);
        throw failure;
      }
    },
    close: () => client.close(),
  };
}

/** @throws the error if it is not one of the call */
function callError(error: unknown): CallError {
  if (error instanceof ProtobufError) return rpcError("Internal", error.message);
  const { code, details } = error as ServiceError;
  if (typeof code !== "number") throw error;
  return rpcError(goName(code), details);
}

function rpcError(code: string, details: string): CallError {
  return new CallError(`rpc error: code = ${code} desc = ${details}`, code);
}

/** `DeadlineExceeded` for DEADLINE_EXCEEDED. */
function goName(code: number): string {
  if (code === status.CANCELLED) return "Canceled";
  return (status[code] ?? `Code(${code})`)
    .toLowerCase()
    .replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
