/**
 * Calls a key management service of version 1 over its Unix socket.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/envelope/grpc_service.go.
 */
import { type Method, socketClient } from "../../../lib/grpc/socket-client.ts";
import { socketOf } from "./client.ts";

/** The calls of the API. Each throws an Error with upstream's message. */
export interface FirstKmsClient {
  encrypt(plain: Buffer): Promise<Buffer>;
  decrypt(cipher: Buffer): Promise<Buffer>;
  close(): void;
}

const version = "v1beta1";
const service = `/${version}.KeyManagementService`;
const versionField = { id: 1, type: "string" } as const;
const plainRequest = { version: versionField, plain: { id: 2, type: "bytes" } } as const;
const cipherRequest = { version: versionField, cipher: { id: 2, type: "bytes" } } as const;

/** Source: k8s.io/kms@v0.36.0/apis/v1beta1/api.proto. */
export const firstMethods = {
  version: {
    path: `${service}/Version`,
    request: { name: "VersionRequest", fields: { version: versionField } },
    response: { name: "VersionResponse", fields: { version: versionField } },
  },
  decrypt: {
    path: `${service}/Decrypt`,
    request: { name: "DecryptRequest", fields: cipherRequest },
    response: { name: "DecryptResponse", fields: { plain: { id: 1, type: "bytes" } } },
  },
  encrypt: {
    path: `${service}/Encrypt`,
    request: { name: "EncryptRequest", fields: plainRequest },
    response: { name: "EncryptResponse", fields: { cipher: { id: 1, type: "bytes" } } },
  },
} as const satisfies Record<string, Method>;

/** @param options `endpoint`: a URL with the scheme `unix` */
export function firstKmsClient({
  endpoint,
  timeoutMs,
}: {
  readonly endpoint: string;
  readonly timeoutMs: number;
}): FirstKmsClient {
  const client = socketClient(socketOf(endpoint), () => {});
  let checked: Promise<void> | undefined;
  /** The version is asked for until it was answered once. */
  const checkVersion = (): Promise<void> => {
    checked ??= askVersion().catch((error: unknown) => {
      checked = undefined;
      throw error;
    });
    return checked;
  };
  const askVersion = async (): Promise<void> => {
    let answer: { readonly version: string };
    try {
      answer = await client.call(firstMethods.version, { version }, timeoutMs);
    } catch (error) {
      throw new Error(`failed get version from remote KMS provider: ${(error as Error).message}`);
    }
    if (answer.version !== version)
      throw new Error(`KMS provider api version ${answer.version} is not supported, only ${version} is supported now`);
  };
  return {
    async encrypt(plain) {
      await checkVersion();
      return (await client.call<{ cipher: Buffer }>(firstMethods.encrypt, { version, plain }, timeoutMs)).cipher;
    },
    async decrypt(cipher) {
      await checkVersion();
      return (await client.call<{ plain: Buffer }>(firstMethods.decrypt, { version, cipher }, timeoutMs)).plain;
    },
    close: () => client.close(),
  };
}
