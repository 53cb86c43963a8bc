/** Verifies the signature, the issuer and the dates of a service account token. */
import type { Clock } from "../../apimachinery/clock.ts";
import { type BoundClaims, readBoundClaims, readWarnAfter } from "./bound-token.ts";
import { secretTokenIssuer } from "./claims.ts";
import type { VerificationKeys } from "./keys.ts";
import { loadJose } from "./load-jose.ts";
import { readSecretClaims, type SecretClaims } from "./secret-token.ts";

/** The tolerated clock difference, as in upstream's library. */
export const leewayMs = 60_000;

/** The claims of a token with a valid signature. */
export interface VerifiedClaims {
  readonly aud: readonly string[];
  /** Seconds since 1970. */
  readonly exp: number | undefined;
  /** Present for bound tokens; {@link VerifiedClaims.secret} is present for others. */
  readonly bound?: BoundClaims;
  readonly secret?: SecretClaims;
  readonly subject: string;
  /** The renewal time in seconds since 1970. */
  readonly warnAfter: number | undefined;
}

/** @returns a problem for invalid tokens */
export async function verifyClaims(
  { keys, clock }: { readonly keys: VerificationKeys; readonly clock: Clock },
  token: string,
  issuer: string,
): Promise<VerifiedClaims | string> {
  const { jwtVerify, decodeProtectedHeader, errors } = await loadJose();
  try {
    const { kid } = decodeProtectedHeader(token);
    const candidates = await keys.find(kid ?? "");
    if (candidates.length === 0) return "invalid signature, no keys found";
    for (const { key, algorithm } of candidates) {
      try {
        const { payload } = await jwtVerify(token, key, {
          algorithms: [algorithm],
          issuer,
          currentDate: new Date(clock.now()),
          clockTolerance: leewayMs / 1000,
        });
        if (typeof payload.iat === "number" && payload.iat * 1000 > clock.now() + leewayMs)
          return "service account token is issued in the future";
        const aud = payload.aud === undefined ? [] : [payload.aud].flat();
        const kindClaims = issuer === secretTokenIssuer ? secretOf(payload) : boundOf(payload);
        return typeof kindClaims === "string"
          ? kindClaims
          : { aud, exp: payload.exp, ...kindClaims, subject: payload.sub ?? "", warnAfter: readWarnAfter(payload) };
      } catch (error) {
        // Try the next key.
        if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JOSEAlgNotAllowed)
          continue;
        throw error;
      }
    }
    return "go-jose/go-jose: error in cryptographic primitive"; // The message of upstream's library.
  } catch (error) {
    if (error instanceof errors.JWTExpired) return "service account token has expired";
    if (error instanceof errors.JWTClaimValidationFailed && error.claim === "nbf")
      return "service account token is not valid yet";
    // The library throws a TypeError for keys that are too short.
    if (error instanceof errors.JOSEError || error instanceof TypeError)
      return "service account token claims could not be validated";
    throw error;
  }
}

type Payload = Readonly<Record<string, unknown>>;

function boundOf(payload: Payload): { bound: BoundClaims } | string {
  const bound = readBoundClaims(payload);
  return bound === undefined ? "service account claims are missing" : { bound };
}

function secretOf(payload: Payload): { secret: SecretClaims } | string {
  const secret = readSecretClaims(payload);
  return typeof secret === "string" ? secret : { secret };
}
