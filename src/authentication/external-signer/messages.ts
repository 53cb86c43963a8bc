/**
 * The API of external signers. Source: k8s.io/externaljwt@v0.36.0/apis/v1/api.proto.
 */
import type { Message } from "../../lib/grpc/codec.ts";
import type { Method } from "../../lib/grpc/socket-client.ts";

export interface SignRequest {
  /** The second part of a JWT. */
  readonly claims: string;
}

export interface SignResponse {
  /** The first part of the JWT. */
  readonly header: string;
  /** The last part of the JWT. */
  readonly signature: string;
}

export interface FetchKeysResponse {
  readonly keys?: readonly SentKey[];
  readonly dataTimestamp?: { readonly seconds: number; readonly nanos: number };
  readonly refreshHintSeconds: number;
}

/** A key as the signer sends it. */
export interface SentKey {
  readonly keyId: string;
  /** In DER, as SubjectPublicKeyInfo. */
  readonly key: Buffer;
  readonly excludeFromOidcDiscovery: boolean;
}

export interface MetadataResponse {
  readonly maxTokenExpirationSeconds: number;
}

const timestamp: Message = {
  name: "Timestamp",
  fields: { seconds: { id: 1, type: "int64" }, nanos: { id: 2, type: "int64" } },
};
const key: Message = {
  name: "Key",
  fields: {
    keyId: { id: 1, type: "string" },
    key: { id: 2, type: "bytes" },
    excludeFromOidcDiscovery: { id: 3, type: "bool" },
  },
};

export const methods = {
  sign: {
    path: "/v1.ExternalJWTSigner/Sign",
    request: { name: "SignJWTRequest", fields: { claims: { id: 1, type: "string" } } },
    response: {
      name: "SignJWTResponse",
      fields: { header: { id: 1, type: "string" }, signature: { id: 2, type: "string" } },
    },
  },
  fetchKeys: {
    path: "/v1.ExternalJWTSigner/FetchKeys",
    request: { name: "FetchKeysRequest", fields: {} },
    response: {
      name: "FetchKeysResponse",
      fields: {
        keys: { id: 1, type: key, repeated: true },
        dataTimestamp: { id: 2, type: timestamp },
        refreshHintSeconds: { id: 3, type: "int64" },
      },
    },
  },
  metadata: {
    path: "/v1.ExternalJWTSigner/Metadata",
    request: { name: "MetadataRequest", fields: {} },
    response: { name: "MetadataResponse", fields: { maxTokenExpirationSeconds: { id: 1, type: "int64" } } },
  },
} as const satisfies Record<string, Method>;
