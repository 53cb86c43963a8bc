/** A key management service of both versions on a Unix socket, as the provider `kms` of an EncryptionConfiguration needs one. */
import { createCipheriv, createDecipheriv, randomBytes } from "node:crypto";
import type { Method } from "../../src/lib/grpc/socket-client.ts";
import { firstMethods } from "../../src/storage/encryption/kms/first-client.ts";
import {
  type DecryptRequest,
  type EncryptResponse,
  methods,
  type StatusResponse,
} from "../../src/storage/encryption/kms/messages.ts";
import { type ServiceState, startService } from "./socket-service.ts";

/** What the service answers; tests replace its parts. */
export interface KmsState extends ServiceState {
  /** The id of the key for new values. Keys are made when they are first used, and are never lost. */
  keyId: string;
  healthz: string;
  version: string;
  /** Changes an answer of Encrypt of version 2. */
  change: (response: EncryptResponse) => EncryptResponse;
}

/** Starts a service. @param socket the path of the socket, which must not exist */
export async function startKms(socket: string): Promise<KmsState & { close(): void }> {
  const state: KmsState = {
    keyId: "first",
    healthz: "ok",
    version: "v2",
    change: (response) => response,
    failure: undefined,
    calls: [],
  };
  const keys = new Map<string, Buffer>();
  const keyOf = (id: string): Buffer => {
    const key = keys.get(id) ?? randomBytes(16);
    keys.set(id, key);
    return key;
  };
  const answers: [Method, (request: never) => object][] = [
    [methods.status, (): StatusResponse => ({ version: state.version, healthz: state.healthz, keyId: state.keyId })],
    [
      methods.encrypt,
      ({ plaintext }: { plaintext: Buffer }) => {
        const ciphertext = transformed(createCipheriv("aes-128-ctr", keyOf(state.keyId), vector), plaintext);
        const annotations = [{ key: "local.kms.example", value: Buffer.from("1") }];
        return state.change({ ciphertext, keyId: state.keyId, annotations });
      },
    ],
    [
      methods.decrypt,
      ({ ciphertext, keyId }: DecryptRequest) => ({
        plaintext: transformed(createDecipheriv("aes-128-ctr", keyOf(keyId), vector), ciphertext),
      }),
    ],
    [firstMethods.version, () => ({ version: "v1beta1" })],
    [
      firstMethods.encrypt,
      ({ plain }: { plain: Buffer }) => ({
        cipher: transformed(createCipheriv("aes-128-ctr", keyOf("v1"), vector), plain),
      }),
    ],
    [
      firstMethods.decrypt,
      ({ cipher }: { cipher: Buffer }) => ({
        plain: transformed(createDecipheriv("aes-128-ctr", keyOf("v1"), vector), cipher),
      }),
    ],
  ];
  return Object.assign(state, { close: await startService(socket, state, answers) });
}

/** A secret of 16 bytes differs for each key, so that the vector may be the same. */
const vector = Buffer.alloc(16);

function transformed(cipher: ReturnType<typeof createCipheriv>, data: Buffer): Buffer {
  return Buffer.concat([cipher.update(data), cipher.final()]);
}
