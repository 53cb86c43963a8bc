/**
 * A claim that the token does not hold, but says who knows it: OpenID Connect Core 1.0, 5.6.2. Source: apiserver's oidc authenticator, whose texts
 * these are.
 */
import { type DocumentClient, DocumentError } from "./document-client.ts";
import { type Claims, member } from "./id-token.ts";
import type { IssuerVerifier } from "./issuer-verifier.ts";

export interface DistributedClaimOptions {
  /** The claim that is looked for. */
  readonly claim: string;
  readonly client: DocumentClient;
  /** @param token nothing of it may be trusted */
  readonly issuerOf: (token: string) => Promise<string | undefined>;
  readonly verifierOf: (issuer: string) => IssuerVerifier;
}

export interface ClaimResolver {
  /** @param claims checked, its sources too @returns the claims with the one that was looked for, if it is to be had; a text says why not */
  expand(claims: Claims): Promise<Claims | string>;
  close(): void;
}

/** Issuers of such claims that are remembered. */
const issuersMax = 16;

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
      throw new DocumentError(
        `getting untrusted issuer from endpoint ${endpoint} failed for claim ${JSON.stringify(claim)}`,
      );
    const found = verifier(issuer);
    await found.tried;
    const checked = await found.verify(token);
    if (checked === undefined)
      throw new DocumentError(
        `verifying untrusted issuer ${issuer} failed: verifier not initialized for issuer: ${JSON.stringify(issuer)}`,
      );
    if (typeof checked === "string") throw new DocumentError(`verify distributed claim token: ${checked}`);
    if (!Object.hasOwn(checked.claims, claim))
      throw new DocumentError(
        `jwt returned by distributed claim endpoint ${JSON.stringify(endpoint)} did not contain claim: ${claim}`,
      );
    return checked.claims[claim];
  };
  return {
    async expand(claims) {
      const source = sourceOf(claims, claim);
      if (source === undefined) return claims;
      const { endpoint = "", access_token: accessToken = "" } = source;
      if (endpoint === "" || endpoint === null) return claims; // What is brought along instead is not supported.
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
  const fail = (why: string): DocumentError =>
    new DocumentError(`while getting distributed claim ${JSON.stringify(claim)}: ${why}`);
  if (!/^[\x20-\x7e]*$/.test(accessToken)) throw fail('net/http: invalid header field value for "Authorization"');
  const ask = client.get(endpoint, accessToken === "" ? {} : { authorization: `Bearer ${accessToken}` });
  const { status, body } = await ask.catch((error: unknown) => {
    throw error instanceof DocumentError ? fail(error.message) : error;
  });
  if (status < 200 || status > 226) throw fail(`error while getting distributed claim JWT: ${status}`);
  return body.toString();
}
