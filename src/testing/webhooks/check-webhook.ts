/** Checks what tests say about a webhook, which can come from programs in other languages. */
import { isObject } from "../../lib/json/values.ts";
import type { AdmissionWebhookSpec, WebhookRule, WebhookSpec } from "./contract.ts";
import { WebhookSpecError } from "./webhook-spec-error.ts";

const types = ["validating", "mutating", "conversion"] as const;
const conversionFields = ["definition", "conversionReviewVersions"];

/** A webhook with its type. */
export type CheckedWebhook =
  | { readonly type: "validating" | "mutating"; readonly spec: AdmissionWebhookSpec }
  | {
      readonly type: "conversion";
      readonly spec: { readonly definition: string; readonly versions: readonly string[] };
    };

/**
 * Checks the parts that the server does not check: it validates the entry of a configuration.
 * @throws WebhookSpecError
 */
export function checkWebhook(spec: WebhookSpec | Readonly<Record<string, unknown>>): CheckedWebhook {
  const named = isObject(spec) ? Object.keys(spec) : [];
  const type = types.find((one) => one === named[0]);
  if (type === undefined || named.length !== 1)
    throw new WebhookSpecError("webhook", `must have one of the fields ${types.join(", ")}`);
  const value = (spec as Readonly<Record<string, unknown>>)[type];
  if (!isObject(value)) throw new WebhookSpecError(type, "must be an object");
  if (type === "conversion") return { type, spec: conversionOf(value) };
  if ("clientConfig" in value) throw new WebhookSpecError(`${type}.clientConfig`, "is set by the test server");
  const { rules, namespace } = value;
  if (!Array.isArray(rules) || rules.length === 0 || !rules.every(isObject))
    throw new WebhookSpecError(`${type}.rules`, "must be a list of rules, such as [{ resources: ['pods'] }]");
  if (namespace !== undefined && typeof namespace !== "string")
    throw new WebhookSpecError(`${type}.namespace`, "must be a string");
  if (namespace !== undefined && value.namespaceSelector !== undefined)
    throw new WebhookSpecError(`${type}.namespace`, "cannot be set together with namespaceSelector");
  return { type, spec: { ...value, rules: rules as unknown[] as WebhookRule[] } };
}

function conversionOf(value: Readonly<Record<string, unknown>>): { definition: string; versions: readonly string[] } {
  const unknown = Object.keys(value).find((name) => !conversionFields.includes(name));
  if (unknown !== undefined)
    throw new WebhookSpecError(
      `conversion.${unknown.slice(0, 50)}`,
      `is not known: the fields are ${conversionFields.join(", ")}`,
    );
  const { definition, conversionReviewVersions: versions = ["v1"] } = value;
  if (typeof definition !== "string" || definition === "")
    throw new WebhookSpecError("conversion.definition", "must be the name of a CustomResourceDefinition");
  if (!Array.isArray(versions)) throw new WebhookSpecError("conversion.conversionReviewVersions", "must be a list");
  return { definition, versions };
}

/**
 * Completes the entry of a configuration.
 * @param id generates the name
 */
export function webhookEntry(spec: AdmissionWebhookSpec, id: string, clientConfig: object): object {
  const { namespace, rules, ...fields } = spec;
  return {
    name: `${id}.testing.coxswain.dev`,
    sideEffects: "None",
    admissionReviewVersions: ["v1"],
    ...(namespace !== undefined && {
      namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": namespace } },
    }),
    ...fields,
    rules: rules.map((rule) => ({ operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["*"], ...rule })),
    clientConfig,
  };
}
