/** A signer of service account tokens over a Unix socket, as `--service-account-signing-endpoint` needs one. */
import { generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import {
  type FetchKeysResponse,
  methods,
  type SentKey,
  type SignRequest,
  type SignResponse,
} from "../../src/authentication/external-signer/messages.ts";
import { type ServiceState, startService } from "./socket-service.ts";

/** A key pair of the signer. */
interface SignerKey extends SentKey {
  readonly privateKey: KeyObject;
}

/** What the signer answers; tests replace its parts. */
export interface SignerState extends ServiceState {
  /** The first one signs. */
  keys: SignerKey[];
  refreshHintSeconds: number;
  maxTokenExpirationSeconds: number;
  /** Changes an answer of Sign. */
  change: (response: SignResponse) => SignResponse;
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
  const close = await startService(socket, state, [
    [methods.sign, (request: SignRequest) => state.change(signed(state, request))],
    [methods.fetchKeys, () => keysOf(state)],
    [methods.metadata, () => ({ maxTokenExpirationSeconds: state.maxTokenExpirationSeconds })],
  ]);
  return Object.assign(state, { close });
}

function signed({ keys: [key] }: SignerState, { claims }: SignRequest): SignResponse {
  const { keyId, privateKey } = key as SignerKey;
  const header = Buffer.from(JSON.stringify({ alg: "ES256", kid: keyId, typ: "JWT" })).toString("base64url");
  const signature = sign("sha256", Buffer.from(`${header}.${claims}`), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return { header, signature: signature.toString("base64url") };
}

function keysOf({ keys, refreshHintSeconds }: SignerState): FetchKeysResponse {
  return { keys, dataTimestamp: { seconds: 1_700_000_000, nanos: 0 }, refreshHintSeconds };
}
