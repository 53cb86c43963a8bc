/** The authenticators of one configuration: a token belongs to that of its issuer. Source: access-control §5.2; apiserver's oidc authenticator. */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { CompiledAuthenticator } from "../configuration/validate.ts";
import type { AcceptedToken, JwtObserver, TokenAnswer, TokenAuthenticator } from "../contract.ts";
import { loadJose } from "../service-account/load-jose.ts";
import { type ClaimResolver, claimResolver } from "./distributed-claim.ts";
import { type Dial, documentClient } from "./document-client.ts";
import { wholeIssuer } from "./id-token.ts";
import { type IssuerVerifier, issuerVerifier } from "./issuer-verifier.ts";
import { mapClaims } from "./map-claims.ts";

export interface JwtAuthenticatorsOptions {
  /** Of `signingAlgorithms`. */
  readonly algorithms: readonly string[];
  readonly clock: Clock;
  readonly logger: Logger;
  /** How issuers with this type of egress are reached. @throws Error when there is none */
  readonly dialOf: (egressSelectorType: string) => Dial;
  readonly observer?: JwtObserver;
}

export interface JwtAuthenticators {
  readonly authenticate: TokenAuthenticator;
  readonly issuers: readonly string[];
  /** Resolves once the tokens of all issuers can be checked. */
  readonly ready: Promise<unknown>;
  /** Why some tokens cannot be checked; none when all can. */
  problems(): string[];
  close(): void;
}

/** All sign with a pair of keys. */
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

/** Longer ones are not looked at. */
const tokenLengthMax = 64 * 1024;

/**
 * Asks the issuers in the background.
 * @param compiled those of a configuration without errors
 * @throws Error when there is no way to an issuer
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

/** Whose token it says it is, which only says who must have signed it. */
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
  const look = async (token: string): Promise<AcceptedToken | { readonly problem: string }> => {
    const checked = await verifier.verify(token);
    if (checked === undefined) return { problem: "oidc: authenticator not initialized" };
    if (typeof checked === "string") return { problem: `oidc: verify token: ${checked}` };
    const claims = resolver === undefined ? checked.claims : await resolver.expand(checked.claims);
    const user = typeof claims === "string" ? claims : mapClaims(compiled, claims);
    return typeof user === "string" ? { problem: user } : { user, audiences: [], expiresAt: checked.expiresAt };
  };
  return {
    issuer: url,
    verifier,
    async authenticate(token) {
      const startedAt = performance.now();
      const answer = await look(token);
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
