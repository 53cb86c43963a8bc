/**
 * Calls an external signer over a Unix socket.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/externaljwt/plugin/plugin.go.
 */
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { decodeMessage, encodeMessage } from "../../lib/grpc/codec.ts";
import { callUnary } from "../../lib/grpc/unary-call.ts";
import { ProtobufError } from "../../lib/protobuf/reader.ts";
import type { SignerObserver } from "../contract.ts";
import {
  type FetchKeysResponse,
  type MetadataResponse,
  type Method,
  methods,
  type SignRequest,
  type SignResponse,
} from "./messages.ts";

/** A call that failed, or an answer that cannot be used. */
export class SignerError extends Error {
  /** The name of the status in Go. */
  readonly code: string;

  constructor(message: string, code = "unknown-non-grpc") {
    super(message);
    this.code = code;
  }

  /** @returns the same error with a text before the message */
  within(lead: string): SignerError {
    return new SignerError(`${lead}: ${this.message}`, this.code);
  }
}

/** Waits for a call. @throws what it throws; a {@link SignerError} has a text before its message */
export async function within<T>(lead: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof SignerError ? error.within(lead) : error;
  }
}

/** The calls of the API. Each throws a {@link SignerError}. */
export interface SignerClient {
  sign(request: SignRequest, timeoutMs: number): Promise<SignResponse>;
  fetchKeys(timeoutMs: number): Promise<FetchKeysResponse>;
  metadata(timeoutMs: number): Promise<MetadataResponse>;
  close(): void;
}

/**
 * Opens a client. Calls wait for the signer until their time is over.
 *
 * @param endpoint the path of a socket, or `@` and the name of an abstract one
 */
export function signerClient(endpoint: string, observer: SignerObserver): SignerClient {
  const client = new Client(`unix:${endpoint.replace(/^@/, "\0")}`, credentials.createInsecure(), {
    "grpc.default_authority": "localhost",
    "grpc.enable_retries": 0,
    "grpc.enable_channelz": 0,
    "grpc.use_local_subchannel_pool": 1,
    "grpc.initial_reconnect_backoff_ms": 50,
    "grpc.min_reconnect_backoff_ms": 50,
    "grpc.max_reconnect_backoff_ms": 1_000,
  });
  const call = async <T>({ name, request, response }: Method, argument: object, timeoutMs: number): Promise<T> => {
    const startedAt = performance.now();
    const path = `/v1.ExternalJWTSigner/${name}`;
    const ended = (code: string): void => observer.called(path, code, performance.now() - startedAt);
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
      const failure = signerError(error);
      ended(failure.code);
      throw failure;
    }
  };
  return {
    sign: (request, timeoutMs) => call(methods.sign, request, timeoutMs),
    fetchKeys: (timeoutMs) => call(methods.fetchKeys, {}, timeoutMs),
    metadata: (timeoutMs) => call(methods.metadata, {}, timeoutMs),
    close: () => client.close(),
  };
}

/** @throws the error if it is not one of the call */
function signerError(error: unknown): SignerError {
  if (error instanceof ProtobufError) return rpcError("Internal", error.message);
  const { code, details } = error as ServiceError;
  if (typeof code !== "number") throw error;
  return rpcError(goName(code), details);
}

function rpcError(code: string, details: string): SignerError {
  return new SignerError(`rpc error: code = ${code} desc = ${details}`, code);
}

/** `DeadlineExceeded` for DEADLINE_EXCEEDED. */
function goName(code: number): string {
  if (code === status.CANCELLED) return "Canceled";
  return (status[code] ?? `Code(${code})`)
    .toLowerCase()
    .replace(/(?:^|_)([a-z])/g, (_match, letter: string) => letter.toUpperCase());
}
