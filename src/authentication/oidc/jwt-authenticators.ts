/**
 * The JWT authenticators of one configuration.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authenticator/token/oidc/oidc.go.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { CompiledAuthenticator } from "../configuration/validate.ts";
import type { AcceptedToken, JwtObserver, RejectedToken, TokenAnswer, TokenAuthenticator } from "../contract.ts";
import { loadJose } from "../service-account/load-jose.ts";
import { type ClaimResolver, claimResolver } from "./distributed-claim.ts";
import { type Dial, documentClient } from "./document-client.ts";
import { wholeIssuer } from "./id-token.ts";
import { type IssuerVerifier, issuerVerifier } from "./issuer-verifier.ts";
import { mapClaims } from "./map-claims.ts";

/** The options of {@link jwtAuthenticators}. */
export interface JwtAuthenticatorsOptions {
  /** A subset of `signingAlgorithms`. */
  readonly algorithms: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** Returns the dialer of an egress selector type. @throws Error for an unconfigured type */
  readonly dialOf: (egressSelectorType: string) => Dial;
  readonly observer?: JwtObserver;
}

/** Authenticates tokens of all configured issuers. */
export interface JwtAuthenticators {
  readonly authenticate: TokenAuthenticator;
  readonly issuers: readonly string[];
  /** Resolves when discovery of all issuers has succeeded. */
  readonly ready: Promise<unknown>;
  /** The discovery errors of issuers. */
  problems(): string[];
  close(): void;
}

/** The supported algorithms, all asymmetric. */
export const signingAlgorithms: readonly string[] = [
  "ES256",
  "ES384",
  "ES512",
  "PS256",
  "PS384",
  "PS512",
  "RS256",
  "RS384",
  "RS512",
];

/** In characters. Longer tokens are ignored. */
const tokenLengthMax = 64 * 1024;

/**
 * Starts discovery of all issuers in the background.
 *
 * @param compiled the authenticators of a valid configuration
 * @throws Error when an egress selector type is not configured
 */
export function jwtAuthenticators(
  compiled: readonly CompiledAuthenticator[],
  options: JwtAuthenticatorsOptions,
): JwtAuthenticators {
  const dials = compiled.map(({ config: { issuer } }) =>
    issuer.egressSelectorType === "" ? undefined : options.dialOf(issuer.egressSelectorType),
  );
  const all = compiled.map((one, index) => jwtAuthenticator(one, options, dials[index]));
  const byIssuer = new Map(all.map((one) => [one.issuer, one]));
  return {
    async authenticate(token) {
      const issuer = byIssuer.size === 0 ? undefined : await untrustedIssuer(token);
      return issuer === undefined ? undefined : byIssuer.get(issuer)?.authenticate(token);
    },
    issuers: all.map(({ issuer }) => issuer),
    ready: Promise.all(all.map(({ verifier }) => verifier.ready)),
    problems: () => all.flatMap(({ verifier }) => verifier.problem() ?? []),
    close() {
      for (const one of all) one.close();
    },
  };
}

/** Reads the issuer of an unverified token, to find the authenticator that verifies it. */
async function untrustedIssuer(token: string): Promise<string | undefined> {
  if (token.length > tokenLengthMax || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(token)) return undefined;
  const { decodeJwt, errors } = await loadJose();
  try {
    const { iss } = decodeJwt(token);
    return typeof iss === "string" ? wholeIssuer(iss) : undefined;
  } catch (error) {
    if (error instanceof errors.JWTInvalid) return undefined;
    throw error;
  }
}

interface JwtAuthenticator {
  readonly issuer: string;
  readonly verifier: IssuerVerifier;
  authenticate(token: string): Promise<TokenAnswer>;
  close(): void;
}

function jwtAuthenticator(
  compiled: CompiledAuthenticator,
  options: JwtAuthenticatorsOptions,
  dial: Dial | undefined,
): JwtAuthenticator {
  const { algorithms, clock, logger, observer } = options;
  const { issuer, claimMappings } = compiled.config;
  const { url, discoveryUrl, audiences, certificateAuthority } = issuer;
  const client = documentClient({ certificateAuthority, dial });
  const common = { audiences, algorithms, client, clock, logger };
  const verifier = issuerVerifier({
    ...common,
    url,
    discoveryUrl,
    onFetch: (keySet) => observer?.fetchedKeys(url, keySet),
  });
  const resolver = claimMappings.groups.claim === "" ? undefined : resolverOf(claimMappings.groups.claim, common);
  const authenticate = async (token: string): Promise<AcceptedToken | RejectedToken> => {
    const checked = await verifier.verify(token);
    if (checked === undefined) return { problems: ["oidc: authenticator not initialized"] };
    if (typeof checked === "string") return { problems: [`oidc: verify token: ${checked}`] };
    const claims = resolver === undefined ? checked.claims : await resolver.expand(checked.claims);
    const user = typeof claims === "string" ? claims : mapClaims(compiled, claims);
    return typeof user === "string" ? { problems: [user] } : { user, audiences: [], expiresAt: checked.expiresAt };
  };
  return {
    issuer: url,
    verifier,
    async authenticate(token) {
      const startedAt = performance.now();
      const answer = await authenticate(token);
      observer?.checked(url, "user" in answer, performance.now() - startedAt);
      return answer;
    },
    close() {
      verifier.close();
      resolver?.close();
      client.close();
    },
  };
}

type Common = Omit<Parameters<typeof issuerVerifier>[0], "url" | "discoveryUrl" | "onFetch">;

function resolverOf(claim: string, common: Common): ClaimResolver {
  return claimResolver({
    claim,
    client: common.client,
    issuerOf: (token) => untrustedIssuer(token.trim()),
    verifierOf: (url) => issuerVerifier({ ...common, url, discoveryUrl: "" }),
  });
}
