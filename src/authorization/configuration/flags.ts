/** What the flags `--authorization-*` say, as a configuration. Source: access-control §5.3; kube-apiserver's BuiltInAuthorizationOptions, whose texts these are. */
import { quoteGo } from "../../lib/json/quote.ts";
import type { AuthorizationOptions } from "../contract.ts";
import { parseAuthorizationModes } from "../modes.ts";
import { nameOfType } from "./configuration.ts";
import type { AuthorizationConfiguration, AuthorizerConfiguration, AuthorizerType, WebhookConfiguration } from "./contract.ts";

/** None for the default: Node and RBAC. */
type Modes = readonly string[];

/** @throws Error when the file is named, and flags that say the same too */
export function checkExclusive(modes: Modes, { configFile, webhook }: AuthorizationOptions): void {
  if (configFile === undefined) return;
  if (modes.length > 0 || Object.values(webhook).some((value) => value !== undefined))
    throw new Error("--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined");
}

/** @param policyFile of the mode ABAC @throws Error when the flags do not go together */
export function configurationOfFlags(modes: Modes, policyFile: string | undefined, { webhook }: AuthorizationOptions): AuthorizationConfiguration {
  const types = parseAuthorizationModes(modes);
  if (types.includes("ABAC") && policyFile === undefined) throw new Error("authorization-mode ABAC's authorization policy file not passed");
  if (types.includes("Webhook") && webhook.configFile === undefined)
    throw new Error("authorization-mode Webhook's authorization config file not passed");
  if (!types.includes("ABAC") && policyFile !== undefined) throw new Error("cannot specify --authorization-policy-file without mode ABAC");
  if (!types.includes("Webhook") && webhook.configFile !== undefined)
    throw new Error("cannot specify --authorization-webhook-config-file without mode Webhook");
  return { authorizers: types.map((type) => authorizerOf(type, webhook)) };
}

function authorizerOf(type: AuthorizerType, webhook: AuthorizationOptions["webhook"]): AuthorizerConfiguration {
  return type === "Webhook" ? { type, name: "default", webhook: webhookOf(webhook) } : { type, name: nameOfType(type) };
}

function webhookOf({
  configFile = "",
  version = "v1beta1",
  authorizedTtlMs = 300_000,
  unauthorizedTtlMs = 30_000,
}: AuthorizationOptions["webhook"]): WebhookConfiguration {
  if (version !== "v1" && version !== "v1beta1")
    throw new Error(`unsupported webhook authorizer version ${quoteGo(version)}, supported versions are "v1", "v1beta1"`);
  return {
    authorizedTtlMs,
    unauthorizedTtlMs,
    timeoutMs: 30_000,
    subjectAccessReviewVersion: version,
    failurePolicy: "NoOpinion",
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile: configFile },
  };
}
