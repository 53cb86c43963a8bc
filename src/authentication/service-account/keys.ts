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

/** @param pem one private key @throws Error that names the file */
export function readSigningKey(pem: string, file: string): SigningKey {
  const privateKey = keyOf(() => createPrivateKey(pem), file);
  return { privateKey, public: publicKeyOf(createPublicKey(privateKey), file) };
}

/** @param pem keys, public or private, and certificates, at least one @throws Error that names the file */
export function readPublicKeys(pem: string, file: string): PublicKey[] {
  const blocks = pem.match(/-----BEGIN ([A-Z0-9 ]+)-----[^-]+-----END \1-----/g) ?? [];
  const keys = blocks.filter((block) => !block.startsWith("-----BEGIN EC PARAMETERS"));
  if (keys.length === 0) throw new Error(`error reading public key file ${file}: data does not contain any valid RSA or ECDSA public keys`);
  return keys.map((block) =>
    publicKeyOf(
      keyOf(() => createPublicKey(block), file),
      file,
    ),
  );
}

/** The library's own words may show what stands in the file. */
function keyOf(read: () => KeyObject, file: string): KeyObject {
  try {
    return read();
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    if (!/^ERR_(OSSL|CRYPTO|INVALID)/.test(code)) throw error;
    throw new Error(`error reading key file ${file}: data does not contain a valid RSA or ECDSA key`);
  }
}

function publicKeyOf(key: KeyObject, file: string): PublicKey {
  const algorithm = algorithmOf(key);
  if (algorithm === undefined) throw new Error(`error reading key file ${file}: neither RSA nor ECDSA with curve P-256, P-384 or P-521`);
  const keyId = createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
  return { keyId, key, algorithm };
}

function algorithmOf({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): PublicKey["algorithm"] | undefined {
  if (asymmetricKeyType === "rsa") return "RS256";
  if (asymmetricKeyType !== "ec") return undefined;
  const curves: Readonly<Record<string, PublicKey["algorithm"]>> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
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
