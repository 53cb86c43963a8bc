/** Tokens of identity providers, and who is nobody in particular: from the options to what answers for them. */
import { hostname } from "node:os";
import type { FeatureGates } from "../api/feature-gates.ts";
import { serverIdentity } from "../api/server-identity.ts";
import { followAuthenticators } from "../authentication/configuration/follow-configuration.ts";
import { type AuthenticationSettings, authenticationSettings } from "../authentication/configuration/settings.ts";
import type { TokenAuthenticator } from "../authentication/contract.ts";
import { openEgressSelector } from "../authentication/egress/selector.ts";
import { parseFeatureGates } from "../cli/feature-gates.ts";
import { jwtMetrics } from "../metrics/jwt-metrics.ts";
import type { MetricsCollector } from "../metrics/metrics.ts";
import { reloadMetrics } from "../metrics/reload-metrics.ts";
import type { ServerOptions } from "../options.ts";

/** @throws Error when an option, or the file it names, is not right */
export async function jwtSettings(options: ServerOptions): Promise<AuthenticationSettings> {
  const { oidc, authenticationConfigFile: configFile, serviceAccountIssuers, featureGates } = options;
  const { gates } = parseFeatureGates(featureGates);
  const settings = await authenticationSettings({ oidc, configFile, anonymousAuth: options.anonymousAuth, serviceAccountIssuers, gates });
  const { anonymous, configuration } = settings;
  if (!anonymous.enabled || configuration.anonymous !== undefined || !options.authorizationModes.includes("AlwaysAllow")) return settings;
  options.logger.warn(
    "AnonymousAuth is not allowed with the AlwaysAllow authorizer. Resetting AnonymousAuth to false. You should use a different authorizer",
  );
  return { ...settings, anonymous: { enabled: false, conditions: [] } };
}

export interface Jwt {
  readonly authenticate: TokenAuthenticator;
  close(): void;
}

export interface JwtNeeds {
  readonly gates: FeatureGates;
  /** Takes what is counted here. */
  readonly metrics: { add(collect: MetricsCollector): void };
}

/** @throws Error when there is no way to an issuer, or the file that tells the ways is not right */
export async function openJwt(settings: AuthenticationSettings, options: ServerOptions, { gates, metrics }: JwtNeeds): Promise<Jwt> {
  const { clock, logger } = options;
  const dialOf = await openEgressSelector(options.egressSelectorConfigFile);
  const identity = serverIdentity(hostname());
  const counted = jwtMetrics({ clock, identity, keySets: gates.enabled("StructuredAuthenticationConfigurationJWKSMetrics") });
  const reloads = reloadMetrics("authentication", { clock, identity });
  metrics.add(counted.collect);
  metrics.add(reloads.collect);
  return followAuthenticators(settings, { clock, logger, dialOf, reloads, observer: counted.observer, forget: counted.forget });
}
