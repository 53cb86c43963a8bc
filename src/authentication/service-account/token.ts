/** Service account tokens: signature, issuer, audience and dates once, what they are bound to each time. Source: access-control §5.2; pkg/serviceaccount. */
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

export interface ServiceAccountTokenOptions {
  readonly keys: readonly PublicKey[];
  readonly issuers: readonly string[];
  /** What tokens that name no audience are for. */
  readonly apiAudiences: readonly string[];
  /** Whether the tokens of secrets must still stand there. */
  readonly lookup: boolean;
  readonly live: LiveObjects;
  readonly clock: Clock;
  readonly observer?: ServiceAccountTokenObserver | undefined;
}

/** How far clocks may be apart, as upstream's library has it. */
const leewayMs = 60_000;
/** Longer ones are none of ours. */
const tokenLengthMax = 64 * 1024;

export function serviceAccountTokens(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const ours = new Set([secretTokenIssuer, ...options.issuers]);
  return (token, audiences) => {
    if (token.length > tokenLengthMax || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
    return loadJose().then((jose) => {
      const issuer = unverifiedIssuer(token, jose);
      return issuer === undefined || !ours.has(issuer) ? undefined : check(options, token, audiences, issuer);
    });
  };
}

type Jose = typeof import("jose");

/** Whose token it says it is, so that other authenticators' need not be looked at twice. Nothing of it may be trusted. */
function unverifiedIssuer(token: string, { decodeJwt, decodeProtectedHeader, errors }: Jose): string | undefined {
  try {
    decodeProtectedHeader(token);
    const { iss } = decodeJwt(token);
    return typeof iss === "string" ? iss : undefined;
  } catch (error) {
    // Of a header that is no JSON the library says so with a TypeError.
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
  const claims = await verified(options, token, issuer);
  if (typeof claims === "string") return { problem: claims };
  const named = claims.aud.length === 0 ? options.apiAudiences : claims.aud;
  const matching = audiences.filter((audience) => named.includes(audience));
  if (matching.length === 0)
    return {
      problem: `token audiences ${quoteGoList(named)} is invalid for the target audiences ${quoteGoList(audiences)}`,
    };
  const problem = (): string | undefined => problemOf(options, token, claims);
  if (problem() !== undefined) {
    await options.live.caughtUp(); // What was just made may not have come by.
    const still = problem();
    if (still !== undefined) return refused(still, claims, options.observer);
  }
  const user = claims.secret === undefined ? boundUser(claims.bound as BoundClaims) : secretTokenUser(claims.secret);
  const accepted: AcceptedToken = {
    user,
    audiences: matching,
    stillHolds: isUnchanged(options, claims, problem),
    ...tokenNotes(options, claims),
  };
  return claims.exp === undefined ? accepted : { ...accepted, expiresAt: claims.exp * 1000 + leewayMs };
}

/** A secret is read again, which costs more than all the rest, only when it or its account is another than now. */
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
  const [holder, account] = states();
  return () => {
    const [holderNow, accountNow] = states();
    return (holder === holderNow && account === accountNow) || problem() === undefined;
  };
}

function refused(
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

export interface VerifiedClaims {
  readonly aud: readonly string[];
  /** Seconds since 1970. */
  readonly exp: number | undefined;
  /** Of tokens that are bound to something, or else {@link VerifiedClaims.secret}. */
  readonly bound?: BoundClaims;
  readonly secret?: SecretClaims;
  readonly subject: string;
  /** Seconds since 1970 from which on the token should have been read again. */
  readonly warnAfter: number | undefined;
}

/** @returns why not, when not */
async function verified(
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
        const of = issuer === secretTokenIssuer ? secretOf(payload) : boundOf(payload);
        return typeof of === "string"
          ? of
          : { aud, exp: payload.exp, ...of, subject: payload.sub ?? "", warnAfter: readWarnAfter(payload) };
      } catch (error) {
        // Another key may have signed it; every other failure stands.
        if (error instanceof errors.JWSSignatureVerificationFailed || error instanceof errors.JOSEAlgNotAllowed)
          continue;
        throw error;
      }
    }
    return "go-jose/go-jose: error in cryptographic primitive"; // As upstream's library says it.
  } catch (error) {
    if (error instanceof errors.JWTExpired) return "service account token has expired";
    if (error instanceof errors.JWTClaimValidationFailed && error.claim === "nbf")
      return "service account token is not valid yet";
    // Of keys that are too short for it the library says so with a TypeError.
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

/** Asked again at each use. */
function problemOf(
  { live, lookup, clock }: ServiceAccountTokenOptions,
  token: string,
  { bound, secret }: VerifiedClaims,
): string | undefined {
  if (secret !== undefined) return lookup ? secretTokenProblem(secret, token, live) : undefined;
  return boundProblem(bound as BoundClaims, live, clock.now() - leewayMs);
}
