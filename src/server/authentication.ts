/** Builds authentication: reads its options, opens the authenticators, and issues service account tokens. */
import { randomUUID } from "node:crypto";
import type { TokenReviewOptions } from "../apis/authentication/token-review.ts";
import { tokenRequests } from "../apis/core/service-account-token.ts";
import { bearerTokenAuthenticators } from "../authentication/bearer-token.ts";
import { bootstrapTokenAuthenticator } from "../authentication/bootstrap-token.ts";
import { clientCertificateAuthenticator } from "../authentication/client-certificate.ts";
import type { Authenticator, TokenAuthenticator } from "../authentication/contract.ts";
import { isCredentialHeader } from "../authentication/credential-headers.ts";
import { loopbackTokenAuthenticator } from "../authentication/loopback-token.ts";
import { requestHeaderAuthenticator } from "../authentication/request-header.ts";
import { checkRequestHeaderOptions } from "../authentication/request-header-options.ts";
import { tokenClaims, watchedExpirationSeconds } from "../authentication/service-account/claims.ts";
import { issuerMetadata, keySet, type VerificationKeys } from "../authentication/service-account/keys.ts";
import { checkServiceAccountOptions } from "../authentication/service-account/options.ts";
import { serviceAccountTokens } from "../authentication/service-account/token.ts";
import { forOwnAudiences } from "../authentication/token-audiences.ts";
import { tokenCache } from "../authentication/token-cache.ts";
import { tokenFileAuthenticator } from "../authentication/token-file.ts";
import { tokenUnion } from "../authentication/token-union.ts";
import { authenticate } from "../authentication/union.ts";
import { openSecretUses } from "../controllers/legacy-tokens/last-used.ts";
import type { RequestContext } from "../http/contract.ts";
import { openIdRoutes } from "../http/endpoints/openid.ts";
import type { TokenRequests } from "../http/endpoints/token-request.ts";
import { authenticationFilter } from "../http/filters/authentication.ts";
import { readGiven } from "../lib/kubeconfig/kubeconfig.ts";
import { certificateMetrics } from "../metrics/certificate-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Filter, PathRoute } from "../request/context.ts";
import type { LoopbackCredentials } from "../webhook/contract.ts";
import { reachedAt } from "./addresses.ts";
import type { Closers } from "./closers.ts";
import { type JwtNeeds, type JwtSettings, jwtSettings, openJwt } from "./jwt.ts";
import { liveObjects } from "./live-objects.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import { openServiceAccountIssuer, type ServiceAccountIssuer } from "./service-account-issuer.ts";
import type { ServingSetup } from "./serving/serving-setup.ts";
import type { ServerState } from "./state.ts";
import type { OpenTokenWebhook, TokenWebhookNeeds } from "./token-webhook.ts";

/** The options of authentication, read and checked. */
export interface AuthenticationSettings {
  readonly tokenFile: readonly TokenAuthenticator[];
  readonly jwt: JwtSettings;
  /** The audiences of this server. */
  readonly audiences: readonly string[];
}

export interface ServerAuthentication {
  readonly filter: Filter;
  /** Authenticates the tokens in TokenReviews. */
  readonly reviewed: TokenReviewOptions;
  /** Issues the tokens of `serviceaccounts/token`. */
  readonly tokens: TokenRequests;
  /** Issues the tokens of service account Secrets. */
  readonly issueForSecret: ServiceAccountIssuer["issueForSecret"];
  /** PEM of the key that signs service account tokens, if the server has made it. */
  readonly ownKey: string | undefined;
  /** The ids of the keys of service account tokens. */
  readonly tokenKeys: ServiceAccountIssuer["tokenKeys"];
  /** The issuer's metadata and key set, by which other services verify tokens. */
  readonly routes: readonly PathRoute<RequestContext>[];
}

/** @throws Error when an option is not valid, or with the line of a file that is not valid */
export async function readAuthenticationSettings(
  options: ServerOptions,
  access: { readonly allowsAll: boolean },
): Promise<AuthenticationSettings> {
  for (const warning of checkServiceAccountOptions(options)) options.logger.warn(warning);
  const { tokenAuthFile, apiAudiences, serviceAccountIssuers } = options;
  return {
    jwt: await jwtSettings(options, access),
    tokenFile:
      tokenAuthFile === undefined
        ? []
        : [tokenFileAuthenticator((await readGiven(tokenAuthFile)).toString(), tokenAuthFile)],
    audiences: apiAudiences.length > 0 ? apiAudiences : serviceAccountIssuers,
  };
}

interface Needs {
  readonly registry: RegistryContext;
  /** PEM of the key that signs service account tokens; undefined: a new key, unless an option names one. */
  readonly serviceAccountKey?: string | undefined;
  readonly serving: Pick<ServingSetup, "clientAuthorities" | "proxyAuthorities" | "own">;
  readonly metrics: JwtNeeds["metrics"] & Pick<ServerMetrics, "calls" | "tokens" | "serviceAccounts">;
  readonly loopback: Pick<LoopbackCredentials, "token">;
  readonly state: ServerState;
  readonly closers: Closers;
}

/** @throws Error with the name of a key file that cannot be read or has no keys */
export async function openAuthentication(
  settings: AuthenticationSettings,
  options: ServerOptions,
  { registry, serviceAccountKey, loopback, state, serving, metrics, closers }: Needs,
): Promise<ServerAuthentication> {
  const { logger } = options;
  const { gates } = registry;
  const { audiences } = settings;
  for (const warning of checkRequestHeaderOptions(options.requestHeader, {
    uids: gates.enabled("RemoteRequestHeaderUID"),
  }))
    logger.warn(warning);
  const issuer = await openServiceAccountIssuer(options, {
    own: serving.own,
    kept: serviceAccountKey,
    metrics,
    closers,
  });
  const { keys, maxExpirationSeconds, extendedExpirationSeconds } = issuer;
  const authenticateToken = await openTokenAuthenticator(settings, options, {
    keys,
    registry,
    loopback,
    metrics,
    closers,
  });
  return {
    filter: authenticationFilter(
      authenticate(
        [
          ...certificateAuthenticators(options, { serving, gates, metrics }),
          ...bearerTokenAuthenticators(authenticateToken, audiences),
        ],
        settings.jwt.anonymous,
      ),
      {
        isCredential: isCredentialHeader(options.requestHeader),
        endUnknown: gates.enabled("UnauthenticatedHTTP2DOSMitigation"),
      },
    ),
    reviewed: { authenticate: authenticateToken, audiences },
    tokens: tokenRequests({
      apiAudiences: audiences,
      maxExpirationSeconds,
      extendExpiration: options.serviceAccountExtendTokenExpiration,
      watchedExpirationSeconds,
      extendedExpirationSeconds,
      issue: (grant) => issuer.issue(tokenClaims({ ...grant, jti: randomUUID() })),
    }),
    issueForSecret: issuer.issueForSecret,
    ownKey: issuer.ownKey,
    tokenKeys: issuer.tokenKeys,
    routes: issuerRoutes(options, keys, () => reachedAt(options, state)),
  };
}

interface TokenNeeds extends Pick<Needs, "registry" | "loopback" | "metrics" | "closers"> {
  /** Keys whose service account tokens are accepted. */
  readonly keys: VerificationKeys;
}

/** All methods that authenticate bearer tokens, with a cache over them. */
async function openTokenAuthenticator(
  { tokenFile, audiences, jwt: { issuers } }: AuthenticationSettings,
  options: ServerOptions,
  { keys, registry, loopback, metrics, closers }: TokenNeeds,
): Promise<TokenAuthenticator> {
  const { clock, logger } = options;
  const { catalog, gates } = registry;
  const { observer } = metrics.tokens;
  const live = liveObjects(catalog);
  const uses = openSecretUses({ registry, logger });
  closers.add(() => uses.stop());
  const accounts = serviceAccountTokens({
    keys,
    issuers: options.serviceAccountIssuers,
    apiAudiences: audiences,
    lookup: options.serviceAccountLookup,
    live,
    clock,
    observer: { used: metrics.serviceAccounts.used, usedSecret: uses.used },
  });
  const bootstrap = options.bootstrapTokenAuth
    ? [forOwnAudiences(bootstrapTokenAuthenticator({ live, clock }), audiences)]
    : [];
  const webhook = await openTokenWebhook(options, { clock, logger, audiences, observer, calls: metrics.calls });
  if (webhook !== undefined) closers.add(webhook.close);
  const jwt = await openJwt(issuers, options, { gates, metrics });
  closers.add(jwt.close);
  // In upstream's order: local methods first, remote ones last.
  const methods = [
    forOwnAudiences(loopbackTokenAuthenticator(loopback.token, randomUUID()), audiences),
    ...tokenFile.map((one) => forOwnAudiences(one, audiences)),
    accounts,
    ...bootstrap,
    ...jwt.authenticators.map((one) => forOwnAudiences(one, audiences)),
    ...(webhook === undefined ? [] : [webhook.authenticate]),
  ];
  return tokenCache(tokenUnion(methods), { clock, observer });
}

/** Loads the webhook client when the option is set. @throws Error with upstream's message */
async function openTokenWebhook(
  { tokenWebhook }: ServerOptions,
  needs: TokenWebhookNeeds,
): Promise<OpenTokenWebhook | undefined> {
  const { configFile } = tokenWebhook;
  if (configFile === undefined) return undefined;
  const { openTokenWebhook: open } = await import("./on-demand.ts");
  return open(configFile, tokenWebhook, needs);
}

/** Proxies first, because the certificate of a proxy may name a user, too. */
function certificateAuthenticators(
  { requestHeader, clock }: ServerOptions,
  { serving, gates, metrics }: Pick<Needs, "serving" | "metrics"> & Pick<RegistryContext, "gates">,
): Authenticator[] {
  const { clientAuthorities, proxyAuthorities } = serving;
  const { observe, collect } = certificateMetrics(clock);
  metrics.add(collect);
  return [
    ...(proxyAuthorities === undefined ? [] : [requestHeaderAuthenticator(requestHeader, proxyAuthorities)]),
    clientCertificateAuthenticator({
      authorities: clientAuthorities,
      uids: gates.enabled("AllowParsingUserUIDFromCertAuth"),
      observe,
    }),
  ];
}

/** Metadata is served for issuers that are https URLs only, because clients look it up there. */
function issuerRoutes(
  options: ServerOptions,
  keys: VerificationKeys,
  address: () => string,
): PathRoute<RequestContext>[] {
  const {
    serviceAccountIssuers: [issuer = ""],
    serviceAccountJwksUri,
  } = options;
  const isAddress = URL.canParse(issuer) && /^https:[^?#]*$/.test(issuer);
  const metadata = isAddress
    ? (): object =>
        issuerMetadata(issuer, serviceAccountJwksUri || `https://${address()}/openid/v1/jwks`, keys.published())
    : undefined;
  return openIdRoutes({ metadata, keySet: () => keySet(keys.published()), maxAgeSeconds: () => keys.maxAgeSeconds() });
}
