/**
 * The keys of an issuer, fetched for the first token and for unknown keys, as in
 * github.com/coreos/go-oidc.
 */

import { createPublicKey, type JsonWebKeyInput, type KeyObject } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import { loadJose } from "../service-account/load-jose.ts";
import { excerpt, parseObject } from "./discovery.ts";
import { type DocumentClient, DocumentError } from "./document-client.ts";

/** Verifies signatures. */
export interface KeySet {
  /** @returns the payload, or an error message */
  verify(token: string): Promise<Buffer | string>;
}

interface KeySetOptions {
  readonly client: DocumentClient;
  readonly url: string;
  /** The allowed algorithms, all asymmetric. */
  readonly algorithms: readonly string[];
  readonly clock: Clock;
  /** Receives each fetched key set; undefined after a failure. */
  readonly onFetch?: (keySet: Buffer | undefined) => void;
}

interface IssuerKey {
  readonly id: string;
  readonly key: KeyObject;
  /** Returns whether the key supports the algorithm. */
  readonly supports: (algorithm: string) => boolean;
}

/** Older keys are fetched again when a token arrives, to drop removed keys. */
const refreshMs = 10 * 60_000;
/** The limit of fetches for unknown keys: a burst, and one more after each interval. */
const fetchesMax = 4;
const fetchEveryMs = 5000;
const keysMax = 256;

const malformed = "oidc: malformed jwt";
const badSignature = "failed to verify signature: failed to verify id token signature";

/** @returns a key set that fetches its keys on demand */
export function remoteKeySet({ client, url, algorithms, clock, onFetch = () => undefined }: KeySetOptions): KeySet {
  let keys: readonly IssuerKey[] = [];
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;
  const takeFetch = fetchBudget(clock);

  const update = async (): Promise<void> => {
    try {
      const { status, headers, body } = await client.get(url);
      if (status !== 200) throw new DocumentError(`oidc: get keys failed: ${status} ${excerpt(body)}`);
      keys = readKeys(parseObject(body, headers["content-type"], "oidc: failed to decode keys"));
      fetchedAt = clock.now();
      onFetch(body);
    } catch (error) {
      onFetch(undefined);
      throw error;
    }
  };
  /** @returns undefined when the fetch limit is reached */
  const fetchKeys = (): Promise<void> | undefined => {
    if (fetching === undefined && takeFetch()) {
      fetching = update().finally(() => {
        fetching = undefined;
      });
    }
    return fetching;
  };
  const checkFetching = async (token: string, header: SignatureHeader): Promise<Buffer | string> => {
    const payload = await payloadOf(token, header, keys);
    if (payload !== undefined) {
      // The next token uses the new keys.
      if (clock.now() - fetchedAt > refreshMs) fetchKeys()?.catch(() => {}); // The observer was notified, and the old keys remain.
      return payload;
    }
    const fetched = fetchKeys();
    if (fetched === undefined) return badSignature;
    await fetched;
    return (await payloadOf(token, header, keys)) ?? badSignature;
  };

  return {
    async verify(token) {
      const header = await readHeader(token);
      if (header === undefined) return malformed;
      if (!algorithms.includes(header.algorithm))
        return `oidc: id token signed with unsupported algorithm, expected ${list(algorithms)} got ${quoteGo(header.algorithm)}`;
      const { errors } = await loadJose();
      try {
        return await checkFetching(token, header);
      } catch (error) {
        if (error instanceof DocumentError) return `failed to verify signature: fetching keys ${error.message}`;
        if (error instanceof errors.JOSEError) return malformed;
        throw error;
      }
    },
  };
}

/** @returns undefined when no key has signed the token */
async function payloadOf(
  token: string,
  { keyId, algorithm }: SignatureHeader,
  keys: readonly IssuerKey[],
): Promise<Buffer | undefined> {
  const { compactVerify, errors } = await loadJose();
  for (const { id, key, supports } of keys) {
    if ((keyId !== "" && id !== keyId) || !supports(algorithm)) continue;
    try {
      return Buffer.from((await compactVerify(token, key, { algorithms: [algorithm] })).payload);
    } catch (error) {
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error; // Try the next key.
    }
  }
  return undefined;
}

/** @returns a function that takes one fetch of the budget; false when none is left */
function fetchBudget(clock: Clock): () => boolean {
  let left = fetchesMax;
  let countedAt = clock.now();
  return () => {
    const earned = Math.floor((clock.now() - countedAt) / fetchEveryMs);
    if (earned > 0) {
      left = Math.min(fetchesMax, left + earned);
      countedAt += earned * fetchEveryMs;
    }
    if (left === 0) return false;
    left -= 1;
    return true;
  };
}

/** The unverified header of a token. */
interface SignatureHeader {
  /** Empty for tokens without a key ID, which any key can verify. */
  readonly keyId: string;
  readonly algorithm: string;
}

async function readHeader(token: string): Promise<SignatureHeader | undefined> {
  const { decodeProtectedHeader } = await loadJose();
  try {
    const { alg: algorithm = "", kid: keyId = "", b64 } = decodeProtectedHeader(token);
    return b64 === false ? undefined : { keyId, algorithm }; // Unencoded payloads (RFC 7797) are not supported.
  } catch (error) {
    if (error instanceof TypeError) return undefined; // The library throws it for a header that is not JSON.
    throw error;
  }
}

function list(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

/** Ignores unsupported and invalid keys. @throws DocumentError without a list of keys */
function readKeys({ keys }: { readonly [name: string]: unknown }): IssuerKey[] {
  if (!Array.isArray(keys)) throw new DocumentError("oidc: failed to decode keys: missing list of keys");
  return keys.slice(0, keysMax).flatMap((jwk: unknown) => readKey(jwk));
}

function readKey(jwk: unknown): IssuerKey[] {
  if (typeof jwk !== "object" || jwk === null) return [];
  const { kid, kty } = jwk as { readonly kid?: unknown; readonly kty?: unknown };
  if (kty !== "RSA" && kty !== "EC") return [];
  try {
    const key = createPublicKey({ key: jwk as JsonWebKeyInput["key"], format: "jwk" });
    return [{ id: typeof kid === "string" ? kid : "", key, supports: algorithmCheck(key) }];
  } catch {
    return []; // Whatever Node.js and OpenSSL report: it is no key that they can use.
  }
}

const curves: Readonly<Record<string, string>> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
/** The library rejects shorter RSA keys, too. */
const modulusBitsMin = 2048;

/** The type of the key determines the algorithms, independent of the token. */
function algorithmCheck({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): (algorithm: string) => boolean {
  if (asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= modulusBitsMin)
    return (algorithm) => /^[RP]S/.test(algorithm);
  const own = asymmetricKeyType === "ec" ? curves[asymmetricKeyDetails?.namedCurve ?? ""] : undefined;
  return (algorithm) => algorithm === own;
}
