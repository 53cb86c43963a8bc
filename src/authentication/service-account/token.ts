/**
 * Authenticates service account tokens: signature, issuer, audience and dates once, the bound
 * objects at each use.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/jwt.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import { quoteGoList } from "../../lib/json/quote.ts";
import type { AcceptedToken, ServiceAccountTokenObserver, TokenAnswer, TokenAuthenticator } from "../contract.ts";
import { type BoundClaims, boundProblem, boundUser, readBoundClaims, readWarnAfter } from "./bound-token.ts";
import { secretTokenIssuer } from "./claims.ts";
import type { PublicKey } from "./keys.ts";
import type { LiveObjects } from "./live-objects.ts";
import { loadJose } from "./load-jose.ts";
import {
  isMarkedInvalid,
  readSecretClaims,
  type SecretClaims,
  secretTokenProblem,
  secretTokenUser,
} from "./secret-token.ts";
import { tokenNotes } from "./token-notes.ts";

/** The options of {@link serviceAccountTokens}. */
export interface ServiceAccountTokenOptions {
  readonly keys: readonly PublicKey[];
  readonly issuers: readonly string[];
  /** The audiences of tokens without an audience. */
  readonly apiAudiences: readonly string[];
  /** Whether Secrets must still contain their tokens: `--service-account-lookup`. */
  readonly lookup: boolean;
  readonly live: LiveObjects;
  readonly clock: Clock;
  readonly observer?: ServiceAccountTokenObserver | undefined;
}

/** The tolerated clock difference, as in upstream's library. */
const leewayMs = 60_000;
/** In characters. Longer tokens are ignored. */
const tokenLengthMax = 64 * 1024;

/** @returns an authenticator of service account tokens */
export function serviceAccountTokens(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const ownIssuers = new Set([secretTokenIssuer, ...options.issuers]);
  return (token, audiences) => {
    if (token.length > tokenLengthMax || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
    return loadJose().then((jose) => {
      const issuer = unverifiedIssuer(token, jose);
      return issuer === undefined || !ownIssuers.has(issuer) ? undefined : check(options, token, audiences, issuer);
    });
  };
}

type Jose = typeof import("jose");

/**
 * Reads the issuer without verification, to skip tokens of other issuers. The result must not be
 * trusted.
 */
function unverifiedIssuer(token: string, { decodeJwt, decodeProtectedHeader, errors }: Jose): string | undefined {
  try {
    decodeProtectedHeader(token);
    const { iss } = decodeJwt(token);
    return typeof iss === "string" ? iss : undefined;
  } catch (error) {
    // The library throws a TypeError for a header that is not JSON.
    if (error instanceof errors.JWTInvalid || error instanceof TypeError) return undefined;
    throw error;
  }
}

async function check(
  options: ServiceAccountTokenOptions,
  token: string,
  audiences: readonly string[],
  issuer: string,
): Promise<TokenAnswer> {
  const claims = await verifyClaims(options, token, issuer);
  if (typeof claims === "string") return { problem: claims };
  const tokenAudiences = claims.aud.length === 0 ? options.apiAudiences : claims.aud;
  const matching = audiences.filter((audience) => tokenAudiences.includes(audience));
  if (matching.length === 0)
    return {
      problem: `token audiences ${quoteGoList(tokenAudiences)} is invalid for the target audiences ${quoteGoList(audiences)}`,
    };
  const problem = (): string | undefined => problemOf(options, token, claims);
  if (problem() !== undefined) {
    await options.live.waitUntilCurrent(); // The watch caches may lack new objects.
    const currentProblem = problem();
    if (currentProblem !== undefined) return rejected(currentProblem, claims, options.observer);
  }
  const user = claims.secret === undefined ? boundUser(claims.bound as BoundClaims) : secretTokenUser(claims.secret);
  const accepted: AcceptedToken = {
    user,
    audiences: matching,
    isStillValid: isUnchanged(options, claims, problem),
    ...tokenNotes(options, claims),
  };
  return claims.exp === undefined ? accepted : { ...accepted, expiresAt: claims.exp * 1000 + leewayMs };
}

/**
 * Checks a Secret again only when it or its service account changed, because decoding it is
 * expensive.
 */
function isUnchanged(
  { live }: ServiceAccountTokenOptions,
  { secret }: VerifiedClaims,
  problem: () => string | undefined,
): () => boolean {
  if (secret === undefined) return () => problem() === undefined;
  const states = (): unknown[] => [
    live.find("secrets", secret.namespace, secret.secret),
    live.find("serviceaccounts", secret.namespace, secret.account),
  ];
  const [secretEntry, account] = states();
  return () => {
    const [secretEntryNow, accountNow] = states();
    return (secretEntry === secretEntryNow && account === accountNow) || problem() === undefined;
  };
}

function rejected(
  problem: string,
  { secret }: VerifiedClaims,
  observer: ServiceAccountTokenObserver | undefined,
): TokenAnswer {
  if (secret !== undefined && isMarkedInvalid(problem, secret)) {
    observer?.used("invalidated");
    observer?.usedSecret(secret.namespace, secret.secret);
    return {
      problem,
      annotations: { "authentication.k8s.io/legacy-token-invalidated": `${secret.secret}/${secret.namespace}` },
    };
  }
  return { problem };
}

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

/** Verifies signature, issuer and dates. @returns a problem for invalid tokens */
async function verifyClaims(
  { keys, clock }: ServiceAccountTokenOptions,
  token: string,
  issuer: string,
): Promise<VerifiedClaims | string> {
  const { jwtVerify, decodeProtectedHeader, errors } = await loadJose();
  try {
    const { kid } = decodeProtectedHeader(token);
    const candidates = kid === undefined || kid === "" ? keys : keys.filter(({ keyId }) => keyId === kid);
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

/** Checks the bound objects. Called at each use of the token. */
function problemOf(
  { live, lookup, clock }: ServiceAccountTokenOptions,
  token: string,
  { bound, secret }: VerifiedClaims,
): string | undefined {
  if (secret !== undefined) return lookup ? secretTokenProblem(secret, token, live) : undefined;
  return boundProblem(bound as BoundClaims, live, clock.now() - leewayMs);
}
