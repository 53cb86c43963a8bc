/**
 * The kind AuthorizationConfiguration, equal in its three versions.
 * Source: k8s.io/apiserver@v0.36.0/pkg/apis/apiserver/v1/types.go.
 */
import type { ConfigurationKind } from "../../apimachinery/configuration-file.ts";
import { bool, configKind, configStruct, duration, listOf, text } from "../../apimachinery/configuration-schema.ts";

/** A decoded AuthorizationConfiguration before validation. */
export interface AuthorizationFile {
  readonly authorizers?: readonly AuthorizerFile[];
}

/** A decoded entry of `authorizers`. */
export interface AuthorizerFile {
  readonly type?: string;
  readonly name?: string;
  readonly webhook?: WebhookFile;
}

/** A decoded webhook. Durations have Go's canonical form, such as `1h0m0s`. */
export interface WebhookFile {
  readonly authorizedTTL?: string;
  readonly cacheAuthorizedRequests?: boolean;
  readonly unauthorizedTTL?: string;
  readonly cacheUnauthorizedRequests?: boolean;
  readonly timeout?: string;
  readonly subjectAccessReviewVersion?: string;
  readonly matchConditionSubjectAccessReviewVersion?: string;
  readonly failurePolicy?: string;
  readonly connectionInfo?: ConnectionFile;
  readonly matchConditions?: readonly { readonly expression?: string }[];
}

/** A decoded `connectionInfo`. */
export interface ConnectionFile {
  readonly type?: string;
  readonly kubeConfigFile?: string;
}

/** The schemas of all versions. */
export const authorizationKinds: readonly ConfigurationKind[] = ["v1", "v1beta1", "v1alpha1"].map((version) => ({
  apiVersion: `apiserver.config.k8s.io/${version}`,
  kind: "AuthorizationConfiguration",
  schema: schemaOf(version),
}));

function schemaOf(version: string): ConfigurationKind["schema"] {
  const optional = { type: bool, pointer: true } as const;
  const webhook = configStruct(`${version}.WebhookConfiguration`, {
    authorizedTTL: duration,
    cacheAuthorizedRequests: optional,
    unauthorizedTTL: duration,
    cacheUnauthorizedRequests: optional,
    timeout: duration,
    subjectAccessReviewVersion: text,
    matchConditionSubjectAccessReviewVersion: text,
    failurePolicy: text,
    connectionInfo: configStruct(`${version}.WebhookConnectionInfo`, {
      type: text,
      kubeConfigFile: { type: text, pointer: true },
    }),
    matchConditions: listOf(configStruct(`${version}.WebhookMatchCondition`, { expression: text })),
  });
  const authorizer = configStruct(`${version}.AuthorizerConfiguration`, {
    type: text,
    name: text,
    webhook: { type: webhook, pointer: true },
  });
  return configKind(`${version}.AuthorizationConfiguration`, { authorizers: listOf(authorizer) });
}
