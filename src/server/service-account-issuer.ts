/** Builds what issues service account tokens and the keys that verify them: in this server, or in an external signer. */
import { extendedExpirationSeconds, secretTokenClaims } from "../authentication/service-account/claims.ts";
import { tokenIssuer } from "../authentication/service-account/issuer.ts";
import { staticKeys, type VerificationKeys } from "../authentication/service-account/keys.ts";
import { externalExtensionWarnings } from "../authentication/service-account/options.ts";
import type { TokenKeys } from "../controllers/server-identity/token-keys.ts";
import type { ServiceAccountTokensOptions } from "../controllers/service-account-tokens.ts";
import { formatDuration } from "../lib/duration/duration.ts";
import { externalSignerMetrics } from "../metrics/external-signer-metrics.ts";
import type { MetricsCollector } from "../metrics/metrics.ts";
import type { Closers } from "./closers.ts";
import type { ServerOptions } from "./options.ts";
import { serviceAccountKeys } from "./serving/service-account-keys.ts";
import type { ServingSetup } from "./serving/serving-setup.ts";

/** What issues service account tokens. */
export interface ServiceAccountIssuer {
  readonly keys: VerificationKeys;
  /** @param claims all claims except the issuer */
  issue(claims: Record<string, unknown>): Promise<string>;
  /** Issues the tokens of Secrets; undefined with an external signer, which has no such tokens. */
  readonly issueForSecret: ServiceAccountTokensOptions["issue"] | undefined;
  /** PEM of the signing key, if the server has made it. */
  readonly ownKey: string | undefined;
  /** Undefined with an external signer, which servers share. */
  readonly tokenKeys: TokenKeys | undefined;
  /** The longest lifetime of a token; 0 for no limit. */
  readonly maxExpirationSeconds: number;
  /** The lifetime of tokens of pods that are extended. */
  readonly extendedExpirationSeconds: number;
}

interface Needs {
  readonly own: ServingSetup["own"];
  /** PEM of the key of a server without a data directory; undefined: a new key. */
  readonly kept: string | undefined;
  readonly metrics: { add(collect: MetricsCollector): void };
  readonly closers: Closers;
}

/**
 * @throws Error with the name of a key file that cannot be read or has no keys, or with upstream's message for an
 *   external signer that does not answer
 */
export async function openServiceAccountIssuer(options: ServerOptions, needs: Needs): Promise<ServiceAccountIssuer> {
  const { observer, collect } = externalSignerMetrics(options.clock);
  needs.metrics.add(collect);
  const { serviceAccountSigningEndpoint: endpoint } = options;
  return endpoint === undefined ? ownIssuer(options, needs) : externalIssuer(endpoint, options, { ...needs, observer });
}

async function ownIssuer(options: ServerOptions, { own, kept }: Needs): Promise<ServiceAccountIssuer> {
  const { signing, accepted, ownKey } = await serviceAccountKeys(options, own, kept);
  const issuer = tokenIssuer(signing, options.serviceAccountIssuers[0] as string);
  return {
    keys: staticKeys(accepted),
    issue: (claims) => issuer.issue(claims),
    issueForSecret: (namespace, account, secret) =>
      issuer.issueForSecret(secretTokenClaims(namespace, account, secret)),
    ownKey,
    tokenKeys: { signing: signing.public.keyId, accepted: accepted.map(({ keyId }) => keyId) },
    maxExpirationSeconds: Math.floor(options.serviceAccountMaxTokenExpirationMs / 1000),
    extendedExpirationSeconds,
  };
}

async function externalIssuer(
  endpoint: string,
  options: ServerOptions,
  { observer, closers }: Pick<Needs, "closers"> & Pick<ReturnType<typeof externalSignerMetrics>, "observer">,
): Promise<ServiceAccountIssuer> {
  const { clock, logger, serviceAccountIssuers, serviceAccountMaxTokenExpirationMs: maxMs } = options;
  const { openExternalSigner } = await import("../authentication/external-signer/open-signer.ts");
  const issuer = serviceAccountIssuers[0] as string;
  const { keys, sign, maxExpirationSeconds, close } = await openExternalSigner(endpoint, {
    issuer,
    clock,
    logger,
    observer,
  });
  closers.add(async () => close());
  const externalMs = maxExpirationSeconds * 1000;
  if (maxMs > externalMs)
    throw new Error(
      `service-account-max-token-expiration cannot be set longer than the token expiration supported by service-account-signing-endpoint: ${[maxMs, externalMs].map((ms) => formatDuration(BigInt(ms) * 1_000_000n)).join(" > ")}`,
    );
  const usedMs = maxMs === 0 ? externalMs : maxMs;
  if (options.serviceAccountExtendTokenExpiration)
    for (const warning of externalExtensionWarnings(usedMs)) logger.warn(warning);
  return {
    keys,
    issue: sign,
    issueForSecret: undefined,
    ownKey: undefined,
    tokenKeys: undefined,
    maxExpirationSeconds: Math.floor(usedMs / 1000),
    extendedExpirationSeconds: Math.min(maxExpirationSeconds, extendedExpirationSeconds),
  };
}
