/** The keys of service account tokens: which sign, which are accepted, and what of them the world may know. Source: access-control §5.2; pkg/serviceaccount. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject } from "node:crypto";

export interface PublicKey {
  /** Derived from the key, so that every server calls it so: the SHA-256 of its DER, in base64url. */
  readonly keyId: string;
  readonly key: KeyObject;
  /** The one algorithm that tokens of this key are signed with. */
  readonly algorithm: "RS256" | "ES256" | "ES384" | "ES512";
}

export interface SigningKey {
  readonly privateKey: KeyObject;
  readonly public: PublicKey;
}

/** @param pem blocks, of which the first RSA or ECDSA key signs @throws Error in upstream's words, with the file */
export function readSigningKey(pem: string, file: string): SigningKey {
  for (const block of blocksOf(pem)) {
    const privateKey = keyOf(() => createPrivateKey(block));
    if (privateKey === undefined) continue;
    const known = publicKeyOf(createPublicKey(privateKey));
    if (known === undefined)
      throw new Error(
        "failed to build token generator: could not generate signer for ECDSA keypair: unknown private key curve, must be 256, 384, or 521",
      );
    return { privateKey, public: known };
  }
  throw new Error(
    `failed to parse service-account-issuer-key-file: error reading private key file ${file}: data does not contain a valid RSA or ECDSA private key`,
  );
}

/** @param pem keys, public or private, and certificates, at least one @throws Error in upstream's words, with the file */
export function readPublicKeys(pem: string, file: string): PublicKey[] {
  const keys = publicKeysIn(pem);
  if (keys.length === 0)
    throw new Error(`error reading public key file ${file}: data does not contain any valid RSA or ECDSA public keys`);
  return keys;
}

/** Whatever else stands there is passed over. */
export function publicKeysIn(pem: string): PublicKey[] {
  return blocksOf(pem).flatMap((block) => {
    const key = keyOf(() => createPublicKey(block));
    const known = key && publicKeyOf(key);
    return known === undefined ? [] : [known];
  });
}

function blocksOf(pem: string): string[] {
  return pem.match(/-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g) ?? [];
}

/** @returns undefined for what is no RSA or ECDSA key: the library's own words may show what stands in the file */
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

/** @returns undefined for other curves than upstream signs with */
function publicKeyOf(key: KeyObject): PublicKey | undefined {
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

/** Each key once. */
export function distinctKeys(keys: readonly PublicKey[]): PublicKey[] {
  return [...new Map(keys.map((key) => [key.keyId, key])).values()];
}

/** What relying parties check tokens with: `/openid/v1/jwks`. */
export function keySet(keys: readonly PublicKey[]): { keys: object[] } {
  return {
    keys: keys.map(({ key, keyId, algorithm }) => {
      const { kty, crv, n, e, x, y } = key.export({ format: "jwk" });
      const own = kty === "RSA" ? { alg: algorithm, n, e } : { crv, alg: algorithm, x, y };
      return { use: "sig", kty, kid: keyId, ...own };
    }),
  };
}

/** Where relying parties find those keys: `/.well-known/openid-configuration`. */
export function issuerMetadata(issuer: string, jwksUri: string, keys: readonly PublicKey[]): object {
  return {
    issuer,
    jwks_uri: jwksUri,
    response_types_supported: ["id_token"],
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: [...new Set(keys.map(({ algorithm }) => algorithm))].sort(),
  };
}
