/**
 * Calls an external signer over a Unix socket.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/externaljwt/plugin/plugin.go.
 */
import { CallError, socketClient } from "../../lib/grpc/socket-client.ts";
import type { SignerObserver } from "../contract.ts";
import {
  type FetchKeysResponse,
  type MetadataResponse,
  methods,
  type SignRequest,
  type SignResponse,
} from "./messages.ts";

/** Waits for a call. @throws what it throws; a CallError has a text before its message */
export async function within<T>(lead: string, call: Promise<T>): Promise<T> {
  try {
    return await call;
  } catch (error) {
    throw error instanceof CallError ? error.within(lead) : error;
  }
}

/** The calls of the API. Each throws a CallError. */
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
  const client = socketClient(endpoint, observer.called);
  return {
    sign: (request, timeoutMs) => client.call(methods.sign, request, timeoutMs),
    fetchKeys: (timeoutMs) => client.call(methods.fetchKeys, {}, timeoutMs),
    metadata: (timeoutMs) => client.call(methods.metadata, {}, timeoutMs),
    close: () => client.close(),
  };
}
