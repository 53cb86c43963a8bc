/**
 * Calls a key management service over its Unix socket.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/envelope/kmsv2/grpc_service.go.
 */
import { parseGoUrl } from "../../../lib/go-net/go-url.ts";
import { socketClient } from "../../../lib/grpc/socket-client.ts";
import type { EncryptionObserver } from "../contract.ts";
import { type DecryptRequest, type EncryptResponse, methods, type StatusResponse } from "./messages.ts";

/** The calls of the API. Each throws a CallError. */
export interface KmsClient {
  status(): Promise<StatusResponse>;
  encrypt(uid: string, plaintext: Buffer): Promise<EncryptResponse>;
  decrypt(request: DecryptRequest): Promise<Buffer>;
  close(): void;
}

interface KmsOptions {
  readonly name: string;
  /** A URL with the scheme `unix`. */
  readonly endpoint: string;
  readonly timeoutMs: number;
  readonly observer: EncryptionObserver;
}

/** Opens a client. Calls wait for the service until their time is over. */
export function kmsClient({ name, endpoint, timeoutMs, observer }: KmsOptions): KmsClient {
  const client = socketClient(socketOf(endpoint), (path, code, milliseconds) =>
    observer.called(name, path, code, milliseconds / 1000),
  );
  return {
    status: () => client.call(methods.status, {}, timeoutMs),
    encrypt: (uid, plaintext) => client.call(methods.encrypt, { uid, plaintext }, timeoutMs),
    async decrypt(request) {
      const { plaintext } = await client.call<{ plaintext: Buffer }>(methods.decrypt, request, timeoutMs);
      return plaintext;
    },
    close: () => client.close(),
  };
}

/** The path of the socket; `unix:///@name` is an abstract one. */
export function socketOf(endpoint: string): string {
  const { path } = parseGoUrl(endpoint);
  return path.startsWith("/@") ? path.slice(1) : path;
}
