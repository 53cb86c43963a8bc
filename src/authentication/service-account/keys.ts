/**
 * The keys of service account tokens. Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/jwt.go
 * and openidmetadata.go.
 */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";
import { pemBlocks } from "../../lib/x509/pem-blocks.ts";

/** A key that verifies tokens. */
export interface PublicKey {
  /** The SHA-256 of the key in DER, in base64url, so that it is equal on all servers. */
  readonly keyId: string;
  readonly key: KeyObject;
  /** The only accepted algorithm for this key. */
  readonly algorithm: "RS256" | "ES256" | "ES384" | "ES512";
}

/** The keys that verify tokens. */
export interface VerificationKeys {
  /** @param keyId empty for all keys */
  find(keyId: string): Promise<readonly PublicKey[]>;
  /** The keys of the issuer's key set. */
  published(): readonly PublicKey[];
  /** How long clients may keep the key set. */
  maxAgeSeconds(): number;
}

/** Keys that do not change. */
export function staticKeys(keys: readonly PublicKey[]): VerificationKeys {
  return {
    find: async (keyId) => (keyId === "" ? keys : keys.filter((key) => key.keyId === keyId)),
    published: () => keys,
    maxAgeSeconds: () => 3600,
  };
}

/** A key that signs tokens. */
export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly public: PublicKey;
}

/**
 * @param pem the first RSA or ECDSA key in it is used
 * @throws Error with upstream's message and the file
 */
export function readSigningKey(pem: string, file: string): SigningKey {
  for (const block of blocksOf(pem)) {
    const privateKey = keyOf(() => createPrivateKey(block));
    if (privateKey === undefined) continue;
    const publicKey = publicKeyOf(createPublicKey(privateKey));
    if (publicKey === undefined)
      throw new Error(
        "failed to build token generator: could not generate signer for ECDSA keypair: unknown private key curve, must be 256, 384, or 521",
      );
    return { privateKey, public: publicKey };
  }
  throw new Error(
    `failed to parse service-account-issuer-key-file: error reading private key file ${file}: data does not contain a valid RSA or ECDSA private key`,
  );
}

/**
 * @param pem public or private keys and certificates, at least one
 * @throws Error with upstream's message and the file
 */
export function readPublicKeys(pem: string, file: string): PublicKey[] {
  const keys = publicKeysIn(pem);
  if (keys.length === 0)
    throw new Error(`error reading public key file ${file}: data does not contain any valid RSA or ECDSA public keys`);
  return keys;
}

/** Reads all supported keys, and ignores other content. */
export function publicKeysIn(pem: string): PublicKey[] {
  return blocksOf(pem).flatMap((block) => {
    const key = keyOf(() => createPublicKey(block));
    const publicKey = key && publicKeyOf(key);
    return publicKey === undefined ? [] : [publicKey];
  });
}

function blocksOf(pem: string): string[] {
  return pemBlocks(pem).map(({ text }) => text);
}

/**
 * @returns undefined for anything but an RSA or ECDSA key, because the messages of the library can
 *   contain the key
 */
function keyOf(read: () => KeyObject): KeyObject | undefined {
  try {
    const key = read();
    return key.asymmetricKeyType === "rsa" || key.asymmetricKeyType === "ec" ? key : undefined;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (/^ERR_(OSSL|CRYPTO|INVALID)/.test(code)) return undefined;
    throw error;
  }
}

/** @returns undefined for types and curves that upstream does not support */
export function publicKeyOf(key: KeyObject): PublicKey | undefined {
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) return undefined;
  const keyId = createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
  return { keyId, key, algorithm };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): PublicKey["algorithm"] | undefined {
  if (asymmetricKeyType === "rsa") return "RS256";
  if (asymmetricKeyType !== "ec") return undefined;
  const curves: Readonly<Record<string, PublicKey["algorithm"]>> = {
    prime256v1: "ES256",
    secp384r1: "ES384",
    secp521r1: "ES512",
  };
  return curves[asymmetricKeyDetails?.namedCurve ?? ""];
}

/** Removes duplicate keys. */
export function distinctKeys(keys: readonly PublicKey[]): PublicKey[] {
  return [...new Map(keys.map((key) => [key.keyId, key])).values()];
}

/** @returns the JSON Web Key Set of `/openid/v1/jwks` */
export function keySet(keys: readonly PublicKey[]): { keys: object[] } {
  return {
    keys: keys.map(({ key, keyId, algorithm }) => {
      const { kty, crv, n, e, x, y } = key.export({ format: "jwk" });
      const own = kty === "RSA" ? { alg: algorithm, n, e } : { crv, alg: algorithm, x, y };
      return { use: "sig", kty, kid: keyId, ...own };
    }),
  };
}

/** @returns the discovery document of `/.well-known/openid-configuration` */
export function issuerMetadata(issuer: string, jwksUri: string, keys: readonly PublicKey[]): object {
  return {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
  };
}
