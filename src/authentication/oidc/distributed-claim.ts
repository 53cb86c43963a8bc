/**
 * Distributed claims, which the token references: OpenID Connect Core 1.0, section 5.6.2. With
 * upstream's error messages.
 * Source: k8s.io/apiserver@v0.36.0/plugin/pkg/authenticator/token/oidc/oidc.go.
 */
import { quoteGo } from "../../lib/json/quote.ts";
import { type DocumentClient, DocumentError } from "./document-client.ts";
import { type Claims, member } from "./id-token.ts";
import type { IssuerVerifier } from "./issuer-verifier.ts";

interface DistributedClaimOptions {
  /** The name of the claim. */
  readonly claim: string;
  readonly client: DocumentClient;
  /** Reads the issuer of an unverified token. */
  readonly issuerOf: (token: string) => Promise<string | undefined>;
  readonly verifierOf: (issuer: string) => IssuerVerifier;
}

/** Resolves one distributed claim. */
export interface ClaimResolver {
  /**
   * @param claims verified claims
   * @returns the claims, with the distributed claim if they reference it; or an error message
   */
  expand(claims: Claims): Promise<Claims | string>;
  close(): void;
}

/** The maximum number of issuers of distributed claims whose keys are cached. */
const issuersMax = 16;

/** @returns a resolver, which must be closed */
export function claimResolver({ claim, client, issuerOf, verifierOf }: DistributedClaimOptions): ClaimResolver {
  const verifiers = new Map<string, IssuerVerifier>();
  const verifier = (issuer: string): IssuerVerifier => {
    const found = verifiers.get(issuer) ?? verifierOf(issuer);
    verifiers.delete(issuer);
    verifiers.set(issuer, found);
    const [oldest] = verifiers;
    if (verifiers.size > issuersMax && oldest !== undefined) {
      verifiers.delete(oldest[0]);
      oldest[1].close();
    }
    return found;
  };
  const resolve = async (endpoint: string, accessToken: string): Promise<unknown> => {
    const token = await fetchToken(client, endpoint, accessToken, claim);
    const issuer = await issuerOf(token);
    if (issuer === undefined)
      throw new DocumentError(`getting untrusted issuer from endpoint ${endpoint} failed for claim ${quoteGo(claim)}`);
    const found = verifier(issuer);
    await found.firstAttempt;
    const checked = await found.verify(token);
    if (checked === undefined)
      throw new DocumentError(
        `verifying untrusted issuer ${issuer} failed: verifier not initialized for issuer: ${quoteGo(issuer)}`,
      );
    if (typeof checked === "string") throw new DocumentError(`verify distributed claim token: ${checked}`);
    if (!Object.hasOwn(checked.claims, claim))
      throw new DocumentError(
        `jwt returned by distributed claim endpoint ${quoteGo(endpoint)} did not contain claim: ${claim}`,
      );
    return checked.claims[claim];
  };
  return {
    async expand(claims) {
      const source = sourceOf(claims, claim);
      if (source === undefined) return claims;
      const { endpoint = "", access_token: accessToken = "" } = source;
      if (endpoint === "" || endpoint === null) return claims; // Aggregated claims are not supported.
      try {
        return withMember(claims, claim, await resolve(endpoint, accessToken ?? ""));
      } catch (error) {
        if (error instanceof DocumentError) return `oidc: could not expand distributed claims: ${error.message}`;
        throw error;
      }
    },
    close() {
      for (const one of verifiers.values()) one.close();
    },
  };
}

interface Source {
  readonly endpoint?: string | null;
  readonly access_token?: string | null;
}

function sourceOf(claims: Claims, claim: string): Source | undefined {
  if (Object.hasOwn(claims, claim)) return undefined;
  const name = member((member(claims, "_claim_names") ?? {}) as Claims, claim);
  return typeof name === "string"
    ? ((member(claims, "_claim_sources") as Claims)[name] as Source | undefined)
    : undefined;
}

function withMember(claims: Claims, name: string, value: unknown): Claims {
  return Object.defineProperty({ ...claims }, name, { value, enumerable: true, writable: true, configurable: true });
}

/** @throws DocumentError */
async function fetchToken(
  client: DocumentClient,
  endpoint: string,
  accessToken: string,
  claim: string,
): Promise<string> {
  const fail = (problem: string): DocumentError =>
    new DocumentError(`while getting distributed claim ${quoteGo(claim)}: ${problem}`);
  if (!/^[\x20-\x7e]*$/.test(accessToken)) throw fail('net/http: invalid header field value for "Authorization"');
  const response = client.get(endpoint, accessToken === "" ? {} : { authorization: `Bearer ${accessToken}` });
  const { status, body } = await response.catch((error: unknown) => {
    throw error instanceof DocumentError ? fail(error.message) : error;
  });
  if (status < 200 || status > 226) throw fail(`error while getting distributed claim JWT: ${status}`);
  return body.toString();
}
