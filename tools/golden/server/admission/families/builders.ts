/** Shorthand for the objects and requests of scenarios. Paths of mutating webhooks start with `/m`, of validating ones with `/v`. */
import type {
  AdmissionHeader,
  AdmissionRequest,
  Scenario,
  Sent,
  SetupStep,
} from "../../../../../test/support/admission-golden.ts";

export interface Family extends AdmissionHeader {
  readonly scenarios: readonly Scenario[];
}

const group = "/apis/admissionregistration.k8s.io/v1";
export const configMapRule: Sent = {
  apiGroups: [""],
  apiVersions: ["v1"],
  resources: ["configmaps"],
  operations: ["*"],
};
export const everything: Sent = { apiGroups: ["*"], apiVersions: ["*"], resources: ["*/*"], operations: ["*"] };

export const namespace = (name: string, labels: Readonly<Record<string, string>> = {}): SetupStep => [
  "/api/v1/namespaces",
  { metadata: { name, labels } },
];

export const onlyNamespace = (name: string): Sent => ({ matchLabels: { "kubernetes.io/metadata.name": name } });

/** @param path of the webhook server @param rest fields that replace the defaults */
export const webhook = (path: string, rest: Sent = {}): Sent => ({
  name: `${path.slice(1).replaceAll("/", "-")}.example.com`,
  clientConfig: { url: `$WEBHOOK${path}`, caBundle: "$CA" },
  rules: [configMapRule],
  sideEffects: "None",
  admissionReviewVersions: ["v1"],
  ...rest,
});

export const validatingWebhooks = (name: string, webhooks: readonly Sent[]): SetupStep => [
  `${group}/validatingwebhookconfigurations`,
  { metadata: { name }, webhooks },
];

export const mutatingWebhooks = (name: string, webhooks: readonly Sent[]): SetupStep => [
  `${group}/mutatingwebhookconfigurations`,
  { metadata: { name }, webhooks },
];

/** A policy for ConfigMaps. */
export const validatingPolicy = (name: string, spec: Sent): SetupStep => [
  `${group}/validatingadmissionpolicies`,
  { metadata: { name }, spec: { matchConstraints: { resourceRules: [configMapRule] }, ...spec } },
];

/** A policy for ConfigMaps. */
export const mutatingPolicy = (name: string, spec: Sent): SetupStep => [
  `${group}/mutatingadmissionpolicies`,
  {
    metadata: { name },
    spec: {
      matchConstraints: { resourceRules: [{ ...configMapRule, operations: ["CREATE", "UPDATE"] }] },
      reinvocationPolicy: "Never",
      ...spec,
    },
  },
];

/** Denies, in one namespace. */
export const validatingBinding = (name: string, inNamespace: string, spec: Sent = {}): SetupStep => [
  `${group}/validatingadmissionpolicybindings`,
  {
    metadata: { name },
    spec: {
      policyName: name,
      validationActions: ["Deny"],
      matchResources: { namespaceSelector: onlyNamespace(inNamespace) },
      ...spec,
    },
  },
];

export const mutatingBinding = (name: string, inNamespace: string, spec: Sent = {}): SetupStep => [
  `${group}/mutatingadmissionpolicybindings`,
  {
    metadata: { name },
    spec: { policyName: name, matchResources: { namespaceSelector: onlyNamespace(inNamespace) }, ...spec },
  },
];

export const request = (line: string, body?: unknown, type?: string): AdmissionRequest => ({
  line,
  ...(body !== undefined && { body }),
  ...(type !== undefined && { type }),
});

/** The path of a collection of the core group, or of an object in it. */
export const core = (inNamespace: string, resource: string, name?: string): string =>
  `/api/v1/namespaces/${inNamespace}/${resource}${name === undefined ? "" : `/${name}`}`;

const configMap = (name: string, rest: Sent = {}): Sent => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name },
  ...rest,
});

export const createConfigMap = (inNamespace: string, name: string, rest: Sent = {}, query = ""): AdmissionRequest =>
  request(`POST ${core(inNamespace, "configmaps")}${query}`, configMap(name, rest));

export const updateConfigMap = (inNamespace: string, name: string, rest: Sent = {}, query = ""): AdmissionRequest =>
  request(`PUT ${core(inNamespace, "configmaps", name)}${query}`, configMap(name, rest));

export const applyConfigMap = (inNamespace: string, name: string, rest: Sent = {}): AdmissionRequest =>
  request(
    `PATCH ${core(inNamespace, "configmaps", name)}?fieldManager=applier`,
    configMap(name, rest),
    "application/apply-patch+yaml",
  );

export const patchConfigMap = (inNamespace: string, name: string, patch: Sent): AdmissionRequest =>
  request(`PATCH ${core(inNamespace, "configmaps", name)}`, patch, "application/merge-patch+json");

export const deleteConfigMap = (inNamespace: string, name: string, query = ""): AdmissionRequest =>
  request(`DELETE ${core(inNamespace, "configmaps", name)}${query}`);
