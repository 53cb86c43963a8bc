/**
 * Converts the flags `--authorization-*` into a configuration.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/kubeapiserver/options/authorization.go, including the error
 * messages.
 */
import { joinErrors, quoteGo, quoteGoList } from "../../lib/json/quote.ts";
import type { AuthorizationOptions } from "../contract.ts";
import {
  type AuthorizationConfiguration,
  type AuthorizerConfiguration,
  type AuthorizerType,
  authorizerTypes,
  nameOfType,
  type WebhookConfiguration,
} from "./contract.ts";

/** The values of `--authorization-mode`; empty for the default of Node and RBAC. */
type Modes = readonly string[];

/** @throws Error when `--authorization-config` is combined with flags that it replaces */
export function checkExclusive(modes: Modes, { configFile, webhook }: AuthorizationOptions): void {
  if (configFile === undefined) return;
  if (modes.length > 0 || Object.values(webhook).some((value) => value !== undefined))
    throw new Error(
      "--authorization-config can not be specified when --authorization-mode or --authorization-webhook-* flags are defined",
    );
}

/**
 * Converts modes and webhook flags into a configuration.
 *
 * @param policyFile the path of the policy file of the mode ABAC
 * @throws Error when the flags contradict each other
 */
export function configurationOfFlags(
  modes: Modes,
  policyFile: string | undefined,
  { webhook }: AuthorizationOptions,
): AuthorizationConfiguration {
  const names = modes.length === 0 ? ["Node", "RBAC"] : modes;
  const problems = problemsOf(names, { policyFile, webhookFile: webhook.configFile });
  if (problems.length > 0) throw new Error(joinErrors(problems));
  return { authorizers: names.map((name) => authorizerOf(name as AuthorizerType, webhook)) };
}

function problemsOf(
  names: Modes,
  { policyFile, webhookFile }: { readonly policyFile?: string; readonly webhookFile?: string },
): string[] {
  const has = (mode: AuthorizerType): boolean => names.includes(mode);
  return [
    ...names.flatMap((name) => (isSupported(name) ? [] : [`authorization-mode ${quoteGo(name)} is not a valid mode`])),
    ...(has("ABAC") && policyFile === undefined
      ? ["authorization-mode ABAC's authorization policy file not passed"]
      : []),
    ...(has("Webhook") && webhookFile === undefined
      ? ["authorization-mode Webhook's authorization config file not passed"]
      : []),
    ...(!has("ABAC") && policyFile !== undefined
      ? ["cannot specify --authorization-policy-file without mode ABAC"]
      : []),
    ...(!has("Webhook") && webhookFile !== undefined
      ? ["cannot specify --authorization-webhook-config-file without mode Webhook"]
      : []),
    ...(new Set(names).size < names.length
      ? [`authorization-mode ${quoteGoList(names)} has mode specified more than once`]
      : []),
  ];
}

function isSupported(name: string): boolean {
  return authorizerTypes.some((type) => type === name);
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
    throw new Error(
      `unsupported webhook authorizer version ${quoteGo(version)}, supported versions are "v1", "v1beta1"`,
    );
  return {
    authorizedTtlMs,
    unauthorizedTtlMs,
    timeoutMs: 30_000,
    subjectAccessReviewVersion: version,
    failurePolicy: "NoOpinion",
    connectionInfo: { type: "KubeConfigFile", kubeConfigFile: configFile },
  };
}
