/** Builds authorization: reads its options, opens the authorizers, and returns the chain that the server asks. */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { type AbacPolicy, parseAbacPolicies } from "../authorization/abac/policy-file.ts";
import { type Chain, openChain } from "../authorization/chain.ts";
import type {
  AuthorizationConfiguration,
  AuthorizerType,
  WebhookConfiguration,
} from "../authorization/configuration/contract.ts";
import { checkExclusive, configurationOfFlags } from "../authorization/configuration/flags.ts";
import type { AuthorizationObserver, Authorizer } from "../authorization/contract.ts";
import { forbiddenError } from "../authorization/forbidden-error.ts";
import {
  type AuthorizationModule,
  abacModule,
  alwaysAllowModule,
  alwaysDenyModule,
  nodeModule,
  rbacModule,
} from "../authorization/modes.ts";
import { followRelations } from "../authorization/node/follow-relations.ts";
import { type FollowedPolicy, followPolicy } from "../authorization/rbac/follow-policy.ts";
import type { OpenWebhook } from "../authorization/webhook/open-webhook.ts";
import { builtinSchema } from "../catalog/builtin-schemas.ts";
import type { FindDenial } from "../catalog/strategy-contract.ts";
import { nodeRules } from "../controllers/bootstrap/rbac/policy.ts";
import { readGiven } from "../lib/kubeconfig/kubeconfig.ts";
import { authorizationMetrics } from "../metrics/authorization-metrics.ts";
import { reloadMetrics } from "../metrics/reload-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";

/** The options of authorization, read and checked. */
export interface AuthorizationSettings {
  readonly configuration: AuthorizationConfiguration;
  /** The file of the configuration, if there is one. */
  readonly source: { readonly file: string; readonly content: Buffer } | undefined;
  readonly abacPolicies: readonly AbacPolicy[];
  /** An authorizer allows everything that those before it do not deny. */
  readonly allowsAll: boolean;
}

export interface ServerAuthorization extends Pick<Chain, "authorize" | "rulesOf"> {
  /** Counts the decisions about requests. */
  readonly attempted: AuthorizationObserver["attempted"];
  /** The indexes of roles and bindings. */
  readonly rbac: FollowedPolicy;
}

/** @throws Error when an option or a file is not valid */
export async function readAuthorizationSettings({
  authorizationModes,
  authorizationPolicyFile,
  authorization,
}: ServerOptions): Promise<AuthorizationSettings> {
  checkExclusive(authorizationModes, authorization);
  const { configFile: file } = authorization;
  const source = file === undefined ? undefined : { file, content: await readGiven(file) };
  const configuration =
    source === undefined
      ? configurationOfFlags(authorizationModes, authorizationPolicyFile, authorization)
      : await parse(source.content);
  const abacPolicies = has(configuration, "ABAC") ? await readAbacPolicies(authorizationPolicyFile) : [];
  return { configuration, source, abacPolicies, allowsAll: has(configuration, "AlwaysAllow") };
}

/** @throws ConfigurationError with upstream's message */
async function parse(content: Buffer): Promise<AuthorizationConfiguration> {
  const { parseAuthorizationConfiguration } = await import("./on-demand.ts");
  return parseAuthorizationConfiguration(content);
}

function has({ authorizers }: AuthorizationConfiguration, type: AuthorizerType): boolean {
  return authorizers.some((authorizer) => authorizer.type === type);
}

/** @throws Error when there is no file, or it is not valid */
async function readAbacPolicies(file: string | undefined): Promise<AbacPolicy[]> {
  if (file === undefined) throw new Error("authorization-mode ABAC's authorization policy file not passed");
  return parseAbacPolicies((await readGiven(file)).toString(), file);
}

interface Needs extends Pick<RegistryContext, "catalog" | "clock"> {
  readonly gates: FeatureGates;
  /** The identity of this server, in metrics. */
  readonly identity: string;
  readonly logger: ServerOptions["logger"];
  readonly metrics: Pick<ServerMetrics, "add" | "calls">;
  readonly closers: Closers;
}

/** @throws Error when an authorizer cannot be opened */
export async function openAuthorization(settings: AuthorizationSettings, needs: Needs): Promise<ServerAuthorization> {
  const { configuration } = settings;
  const observer = authorizationMetrics();
  needs.metrics.add(observer.collect);
  const rbac = followPolicy(needs);
  needs.closers.add(() => rbac.stop());
  const nodes = has(configuration, "Node") ? followRelations(needs) : undefined;
  if (nodes !== undefined) needs.closers.add(() => nodes.stop());
  const modules: Partial<Record<AuthorizerType, AuthorizationModule>> = {
    ...(settings.allowsAll && { AlwaysAllow: alwaysAllowModule }), // Only if the first configuration has it: with a later one, anonymous requests would be allowed everything.
    AlwaysDeny: alwaysDenyModule,
    ...(has(configuration, "ABAC") && { ABAC: abacModule(settings.abacPolicies) }),
    ...(nodes && {
      Node: nodeModule(nodes.relations, { rules: nodeRules(needs.gates), enabled: needs.gates.enabled }),
    }),
    ...(has(configuration, "RBAC") && { RBAC: rbacModule(rbac.policy) }),
  };
  const { authorize, rulesOf, close } = await openChains(settings, modules, { ...needs, observer });
  needs.closers.add(close);
  return { attempted: observer.attempted, authorize, rulesOf, rbac };
}

/** Opens one chain of authorizers, or a new one after each change of the file. */
async function openChains(
  { configuration, source }: AuthorizationSettings,
  modules: Partial<Record<AuthorizerType, AuthorizationModule>>,
  needs: Needs & { readonly observer: AuthorizationObserver },
): Promise<Chain> {
  const { gates, clock, identity, logger, metrics, observer } = needs;
  const openNamed = async (name: string, webhook: WebhookConfiguration): Promise<OpenWebhook> => {
    const { openWebhook } = await import("./on-demand.ts");
    return openWebhook({
      name,
      configuration: webhook,
      schema: builtinSchema(`io.k8s.api.authorization.${webhook.subjectAccessReviewVersion}.SubjectAccessReview`),
      selectors: gates.enabled("AuthorizeWithSelectors"),
      observer,
      clock,
      logger,
      calls: metrics.calls,
    });
  };
  const open = (next: AuthorizationConfiguration): Promise<Chain> =>
    openChain(next, { modules, openWebhook: openNamed, observer });
  const chain = await open(configuration);
  if (source === undefined) return chain;
  const reloads = reloadMetrics("authorization", { clock, identity });
  metrics.add(reloads.collect);
  const { followConfiguration } = await import("./on-demand.ts");
  return followConfiguration({ ...source, configuration, chain, open, reloads, clock, logger });
}

/** Lets strategies check rights beyond that of the request. */
export function denialFinder(authorize: Authorizer): FindDenial {
  return async (check) => {
    const attributes = { ...check, isResourceRequest: true, path: "", fieldSelector: "", labelSelector: "" };
    const { decision, reason, error } = await authorize(attributes);
    if (decision === "allow") return undefined;
    return forbiddenError(attributes, [error ?? "", reason].filter((text) => text !== "").join(": ")).message;
  };
}
