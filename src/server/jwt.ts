/** Builds the authentication of OpenID Connect tokens and of anonymous requests. */
import { parseEffectiveVersion } from "../apimachinery/effective-version.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { parseFeatureGates } from "../apimachinery/feature-gates.ts";
import type { AnonymousConfiguration } from "../authentication/configuration/configuration.ts";
import type { AuthenticationSettings } from "../authentication/configuration/settings.ts";
import type { TokenAuthenticator } from "../authentication/contract.ts";
import { jwtMetrics } from "../metrics/jwt-metrics.ts";
import type { MetricsCollector } from "../metrics/metrics.ts";
import { reloadMetrics } from "../metrics/reload-metrics.ts";
import type { ServerOptions } from "./options.ts";
import { identityOf } from "./peers.ts";

export interface JwtSettings {
  readonly anonymous: AnonymousConfiguration;
  /** Undefined without issuers: the code that verifies their tokens is not loaded then. */
  readonly issuers: AuthenticationSettings | undefined;
}

/** @throws Error when an option, or the file that it names, is not valid */
export async function jwtSettings(
  options: ServerOptions,
  { allowsAll }: { readonly allowsAll: boolean },
): Promise<JwtSettings> {
  const issuers = await issuerSettings(options);
  const anonymous = issuers?.anonymous ?? { enabled: options.anonymousAuth ?? true, conditions: [] };
  const isInFile = issuers?.configuration.anonymous !== undefined;
  if (!anonymous.enabled || !allowsAll) return { anonymous, issuers };
  if (isInFile) {
    options.logger.warn(anonymousAllowedAll(anonymous));
    return { anonymous, issuers };
  }
  options.logger.warn(
    "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer",
  );
  return { anonymous: { enabled: false, conditions: [] }, issuers };
}

function anonymousAllowedAll({ conditions }: AnonymousConfiguration): string {
  const where = conditions.length === 0 ? "" : ` at ${conditions.map(({ path }) => path).join(", ")}`;
  return `Anonymous requests may do everything${where}: the authentication configuration enables them, and the AlwaysAllow authorizer allows all requests`;
}

async function issuerSettings(options: ServerOptions): Promise<AuthenticationSettings | undefined> {
  const { oidc, authenticationConfigFile: configFile, anonymousAuth, serviceAccountIssuers, featureGates } = options;
  if (configFile === undefined && Object.values(oidc).every((value) => value === undefined)) return undefined;
  const { authenticationSettings } = await import("./on-demand.ts");
  const { gates } = parseFeatureGates(featureGates, parseEffectiveVersion(options));
  return authenticationSettings({ oidc, configFile, anonymousAuth, serviceAccountIssuers, gates });
}

interface Jwt {
  /** Empty without issuers. */
  readonly authenticators: readonly TokenAuthenticator[];
  close(): void;
}

export interface JwtNeeds {
  readonly gates: FeatureGates;
  readonly metrics: { add(collect: MetricsCollector): void };
}

/** @throws Error when the egress configuration is not valid, or lacks one that an issuer names */
export async function openJwt(
  issuers: AuthenticationSettings | undefined,
  options: ServerOptions,
  { gates, metrics }: JwtNeeds,
): Promise<Jwt> {
  const { clock, logger, egressSelectorConfigFile } = options;
  const identity = identityOf(options);
  const counted = jwtMetrics({
    clock,
    identity,
    keySets: gates.enabled("StructuredAuthenticationConfigurationJWKSMetrics"),
  });
  const reloads = reloadMetrics("authentication", { clock, identity });
  metrics.add(counted.collect);
  metrics.add(reloads.collect);
  if (issuers === undefined && egressSelectorConfigFile === undefined) return { authenticators: [], close() {} };
  const { openEgressSelector, followAuthenticators } = await import("./on-demand.ts");
  const dialOf = await openEgressSelector(egressSelectorConfigFile);
  if (issuers === undefined) return { authenticators: [], close() {} };
  const { observer, forget } = counted;
  const { authenticate, close } = followAuthenticators(issuers, { clock, logger, dialOf, reloads, observer, forget });
  return { authenticators: [authenticate], close };
}
