/** The API of key management services. Source: k8s.io/kms@v0.36.0/apis/v2/api.proto. */
import type { Message } from "../../../lib/grpc/codec.ts";
import type { Method } from "../../../lib/grpc/socket-client.ts";

/** An entry of a map from text to bytes. */
export interface Annotation {
  readonly key: string;
  readonly value: Buffer;
}

export interface StatusResponse {
  readonly version: string;
  readonly healthz: string;
  readonly keyId: string;
}

export interface EncryptResponse {
  readonly ciphertext: Buffer;
  readonly keyId: string;
  readonly annotations?: readonly Annotation[];
}

export interface DecryptRequest extends EncryptResponse {
  readonly uid: string;
}

/** How the key of a value is made from its source. */
export const sourceTypes = { key: 0, seed: 1 } as const;

/** A stored value. Source: k8s.io/apiserver@v0.36.0/pkg/storage/value/encrypt/envelope/kmsv2/v2/api.proto. */
export interface EncryptedObject {
  readonly encryptedData: Buffer;
  readonly keyId: string;
  /** What the service encrypted: a key, or the seed of keys. */
  readonly encryptedSource: Buffer;
  readonly annotations?: readonly Annotation[];
  readonly sourceType: number;
}

const annotation: Message = {
  name: "AnnotationsEntry",
  fields: { key: { id: 1, type: "string" }, value: { id: 2, type: "bytes" } },
};

export const encryptedObject: Message = {
  name: "EncryptedObject",
  fields: {
    encryptedData: { id: 1, type: "bytes" },
    keyId: { id: 2, type: "string" },
    encryptedSource: { id: 3, type: "bytes" },
    annotations: { id: 4, type: annotation, repeated: true },
    sourceType: { id: 5, type: "int64" },
  },
};

export const methods = {
  status: {
    path: "/v2.KeyManagementService/Status",
    request: { name: "StatusRequest", fields: {} },
    response: {
      name: "StatusResponse",
      fields: {
        version: { id: 1, type: "string" },
        healthz: { id: 2, type: "string" },
        keyId: { id: 3, type: "string" },
      },
    },
  },
  decrypt: {
    path: "/v2.KeyManagementService/Decrypt",
    request: {
      name: "DecryptRequest",
      fields: {
        ciphertext: { id: 1, type: "bytes" },
        uid: { id: 2, type: "string" },
        keyId: { id: 3, type: "string" },
        annotations: { id: 4, type: annotation, repeated: true },
      },
    },
    response: { name: "DecryptResponse", fields: { plaintext: { id: 1, type: "bytes" } } },
  },
  encrypt: {
    path: "/v2.KeyManagementService/Encrypt",
    request: {
      name: "EncryptRequest",
      fields: { plaintext: { id: 1, type: "bytes" }, uid: { id: 2, type: "string" } },
    },
    response: {
      name: "EncryptResponse",
      fields: {
        ciphertext: { id: 1, type: "bytes" },
        keyId: { id: 2, type: "string" },
        annotations: { id: 3, type: annotation, repeated: true },
      },
    },
  },
} as const satisfies Record<string, Method>;
