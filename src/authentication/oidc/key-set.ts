/** The keys of an issuer: fetched when a token needs them, kept, and fetched again for a key that is not known. Source: coreos/go-oidc's jwks. */
import { createPublicKey, type JsonWebKeyInput, type KeyObject } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";
import { loadJose } from "../service-account/load-jose.ts";
import { excerpt, parseObject } from "./discovery.ts";
import { type DocumentClient, DocumentError } from "./document-client.ts";

export interface KeySet {
  /** @returns the signed bytes; a text says why there are none */
  verify(token: string): Promise<Buffer | string>;
}

export interface KeySetOptions {
  readonly client: DocumentClient;
  readonly url: string;
  /** Of those that sign with a pair of keys. */
  readonly algorithms: readonly string[];
  readonly clock: Clock;
  /** Is told of each fetch: with the document, if one came. */
  readonly onFetch?: (keySet: Buffer | undefined) => void;
}

interface IssuerKey {
  readonly id: string;
  readonly key: KeyObject;
  /** `RS`, or `ES256` with the curve's own. */
  readonly fits: (algorithm: string) => boolean;
}

/** Keys that an issuer has taken back are forgotten after so long, when tokens come. */
const refreshMs = 10 * 60_000;
/** Tokens with keys that are not known can make so many fetches at once, and one more after each while. */
const fetchesMax = 4;
const fetchEveryMs = 5000;
const keysMax = 256;

const malformed = "oidc: malformed jwt";
const badSignature = "failed to verify signature: failed to verify id token signature";

export function remoteKeySet({ client, url, algorithms, clock, onFetch = () => undefined }: KeySetOptions): KeySet {
  let keys: readonly IssuerKey[] = [];
  let fetchedAt = Number.NEGATIVE_INFINITY;
  let fetching: Promise<void> | undefined;
  const takesFetch = fetchBudget(clock);

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
  /** @returns undefined when there were too many already */
  const fetchKeys = (): Promise<void> | undefined => {
    if (fetching === undefined && takesFetch()) {
      fetching = update().finally(() => {
        fetching = undefined;
      });
    }
    return fetching;
  };
  const check = async (token: string, { keyId, algorithm }: SignatureHeader): Promise<Buffer | undefined> => {
    const { compactVerify, errors } = await loadJose();
    for (const { id, key, fits } of keys) {
      if ((keyId !== "" && id !== keyId) || !fits(algorithm)) continue;
      try {
        return Buffer.from((await compactVerify(token, key, { algorithms: [algorithm] })).payload);
      } catch (error) {
        if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error; // Another key may have signed it.
      }
    }
    return undefined;
  };
  const checkFetching = async (token: string, header: SignatureHeader): Promise<Buffer | string> => {
    const known = await check(token, header);
    if (known !== undefined) {
      if (clock.now() - fetchedAt > refreshMs) fetchKeys()?.catch(ignoreDocumentError); // The next token gets its answer.
      return known;
    }
    const fetched = fetchKeys();
    if (fetched === undefined) return badSignature;
    await fetched;
    return (await check(token, header)) ?? badSignature;
  };

  return {
    async verify(token) {
      const header = await readHeader(token);
      if (header === undefined) return malformed;
      if (!algorithms.includes(header.algorithm))
        return `oidc: id token signed with unsupported algorithm, expected ${list(algorithms)} got ${JSON.stringify(header.algorithm)}`;
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

/** @returns takes one, unless too many were taken */
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

/** Nothing of it is trusted: it says which key and which of the allowed algorithms must show that it is true. */
interface SignatureHeader {
  /** Empty: any key may have signed. */
  readonly keyId: string;
  readonly algorithm: string;
}

async function readHeader(token: string): Promise<SignatureHeader | undefined> {
  const { decodeProtectedHeader } = await loadJose();
  try {
    const { alg: algorithm = "", kid: keyId = "", b64 } = decodeProtectedHeader(token);
    return b64 === false ? undefined : { keyId, algorithm }; // Payloads that are not encoded are no claims.
  } catch (error) {
    if (error instanceof TypeError) return undefined; // The library says so of a header that is no JSON.
    throw error;
  }
}

/** It has been told, and the old keys stay. */
function ignoreDocumentError(error: unknown): void {
  if (!(error instanceof DocumentError)) throw error;
}

function list(texts: readonly string[]): string {
  return `[${texts.map((text) => JSON.stringify(text)).join(" ")}]`;
}

/** Keys of other kinds, and broken ones, are passed over. @throws DocumentError when there is no list of keys */
function readKeys({ keys }: { readonly [name: string]: unknown }): IssuerKey[] {
  if (!Array.isArray(keys)) throw new DocumentError("oidc: failed to decode keys: there is no list of keys");
  return keys.slice(0, keysMax).flatMap((jwk: unknown) => readKey(jwk));
}

function readKey(jwk: unknown): IssuerKey[] {
  if (typeof jwk !== "object" || jwk === null) return [];
  const { kid, kty } = jwk as { readonly kid?: unknown; readonly kty?: unknown };
  if (kty !== "RSA" && kty !== "EC") return [];
  try {
    const key = createPublicKey({ key: jwk as JsonWebKeyInput["key"], format: "jwk" });
    return [{ id: typeof kid === "string" ? kid : "", key, fits: fitsOf(key) }];
  } catch (error) {
    if (/^ERR_(OSSL|CRYPTO|INVALID)/.test((error as NodeJS.ErrnoException).code ?? "")) return [];
    throw error;
  }
}

const curves: Readonly<Record<string, string>> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
/** Shorter ones are not trusted, by the library either. */
const modulusBitsMin = 2048;

/** A key is used as what it is, whatever a token asks for. */
function fitsOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): (algorithm: string) => boolean {
  if (asymmetricKeyType === "rsa" && (asymmetricKeyDetails?.modulusLength ?? 0) >= modulusBitsMin)
    return (algorithm) => /^[RP]S/.test(algorithm);
  const own = asymmetricKeyType === "ec" ? curves[asymmetricKeyDetails?.namedCurve ?? ""] : undefined;
  return (algorithm) => algorithm === own;
}
