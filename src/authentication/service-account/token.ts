/**
 * Authenticates service account tokens: signature, issuer, audience and dates once, the bound
 * objects at each use.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/serviceaccount/jwt.go.
 */
import { quoteGoList } from "../../lib/json/quote.ts";
import type { AcceptedToken, ServiceAccountTokenObserver, TokenAnswer, TokenAuthenticator } from "../contract.ts";
import { type BoundClaims, boundProblem, boundUser } from "./bound-token.ts";
import { secretTokenIssuer } from "./claims.ts";
import type { VerificationKeys } from "./keys.ts";
import { loadJose } from "./load-jose.ts";
import { isMarkedInvalid, secretTokenProblem, secretTokenUser } from "./secret-token.ts";
import { type TokenUse, tokenNotes } from "./token-notes.ts";
import { leewayMs, type VerifiedClaims, verifyClaims } from "./verify-claims.ts";

/** The options of {@link serviceAccountTokens}. */
export interface ServiceAccountTokenOptions extends TokenUse {
  readonly keys: VerificationKeys;
  readonly issuers: readonly string[];
  /** The audiences of tokens without an audience. */
  readonly apiAudiences: readonly string[];
}

/** In characters. Longer tokens are ignored. */
const tokenLengthMax = 64 * 1024;

/** @returns an authenticator of service account tokens */
export function serviceAccountTokens(options: ServiceAccountTokenOptions): TokenAuthenticator {
  const ownIssuers = new Set([secretTokenIssuer, ...options.issuers]);
  return (token, audiences) => {
    if (token.length > tokenLengthMax || !/^[\w-]+\.[\w-]+\.[\w-]*$/.test(token)) return undefined;
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
  if (typeof claims === "string") return { problems: [claims] };
  const tokenAudiences = claims.aud.length === 0 ? options.apiAudiences : claims.aud;
  const matching = audiences.filter((audience) => tokenAudiences.includes(audience));
  if (matching.length === 0)
    return {
      problems: [
        `token audiences ${quoteGoList(tokenAudiences)} is invalid for the target audiences ${quoteGoList(audiences)}`,
      ],
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
      problems: [problem],
      annotations: { "authentication.k8s.io/legacy-token-invalidated": `${secret.secret}/${secret.namespace}` },
    };
  }
  return { problems: [problem] };
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
