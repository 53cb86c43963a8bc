/** A signer of service account tokens over a Unix socket, as `--service-account-signing-endpoint` needs one. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { Server, ServerCredentials, status, type UntypedServiceImplementation } from "@grpc/grpc-js";
import {
  type FetchKeysResponse,
  type Method,
  methods,
  type SentKey,
  type SignRequest,
  type SignResponse,
} from "../../src/authentication/external-signer/messages.ts";
import { decodeMessage, encodeMessage } from "../../src/lib/grpc/codec.ts";

/** A key pair of the signer. */
interface SignerKey extends SentKey {
  readonly privateKey: KeyObject;
}

/** What the signer answers; tests replace its parts. */
export interface SignerState {
  /** The first one signs. */
  keys: SignerKey[];
  refreshHintSeconds: number;
  maxTokenExpirationSeconds: number;
  /** Changes an answer of Sign. */
  change: (response: SignResponse) => SignResponse;
  /** The error of all calls. */
  failure: { readonly code: number; readonly details: string } | undefined;
  /** The names of the methods that have been called. */
  readonly calls: string[];
}

/** @param id in the header of tokens */
export function signerKey(id: string, excluded = false): SignerKey {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    keyId: id,
    key: publicKey.export({ type: "spki", format: "der" }),
    excludeFromOidcDiscovery: excluded,
    privateKey,
  };
}

/** Starts a signer. @param socket the path of the socket, which must not exist */
export async function startExternalSigner(socket: string): Promise<SignerState & { close(): void }> {
  const state: SignerState = {
    keys: [signerKey("first")],
    refreshHintSeconds: 3600,
    maxTokenExpirationSeconds: 86_400,
    change: (response) => response,
    failure: undefined,
    calls: [],
  };
  const server = new Server();
  const answers: [Method, (request: never) => object][] = [
    [methods.sign, (request: SignRequest) => state.change(signed(state, request))],
    [methods.fetchKeys, () => keysOf(state)],
    [methods.metadata, () => ({ maxTokenExpirationSeconds: state.maxTokenExpirationSeconds })],
  ];
  server.addService(
    Object.fromEntries(
      answers.map(([{ name, request, response }]) => [
        name,
        {
          path: `/v1.ExternalJWTSigner/${name}`,
          requestStream: false,
          responseStream: false,
          requestSerialize: (value: object) => encodeMessage(request, value),
          requestDeserialize: (bytes: Buffer) => decodeMessage<object>(request, bytes),
          responseSerialize: (value: object) => encodeMessage(response, value),
          responseDeserialize: (bytes: Buffer) => decodeMessage<object>(response, bytes),
        },
      ]),
    ),
    Object.fromEntries(
      answers.map(([{ name }, answer]) => [
        name,
        (call: { request: never }, done: (error: object | null, response?: object) => void) => {
          state.calls.push(name);
          if (state.failure === undefined) done(null, answer(call.request));
          else done(state.failure);
        },
      ]),
    ) as unknown as UntypedServiceImplementation,
  );
  await new Promise<void>((resolve, reject) =>
    server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) =>
      error === null ? resolve() : reject(error),
    ),
  );
  return Object.assign(state, { close: () => server.forceShutdown() });
}

export const unavailable = { code: status.UNAVAILABLE, details: "the vault is sealed" };

function signed({ keys: [key] }: SignerState, { claims }: SignRequest): SignResponse {
  const { keyId, privateKey } = key as SignerKey;
  const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: keyId, typ: "JWT" })).toString("base64url");
  const signature = sign("sha256", Buffer.from(`${header}.${claims}`), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return { header, signature: signature.toString("base64url") };
}

function keysOf({ keys, refreshHintSeconds }: SignerState): FetchKeysResponse {
  return { keys, dataTimestamp: { seconds: 1_700_000_000, nanos: 0 }, refreshHintSeconds };
}
