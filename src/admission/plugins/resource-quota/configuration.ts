/**
 * The configuration of the plugin ResourceQuota: resources that cannot be used without a quota.
 * Source: k8s.io/apiserver@v0.36.0/pkg/admission/plugin/resourcequota/apis/resourcequota.
 */
import {
  ConfigurationError,
  type ConfigurationKind,
  decodeConfiguration,
} from "../../../apimachinery/configuration-file.ts";
import { configKind, configStruct, listOf, text } from "../../../apimachinery/configuration-schema.ts";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { schemeName } from "../../config/configuration-file.ts";
import type { LimitedResource } from "../../quota/check-write.ts";
import { scopeRequirement } from "../../quota/scopes.ts";

/** The configuration of the plugin. */
export interface ResourceQuotaConfiguration {
  readonly limited: readonly LimitedResource[];
}

const requirement = configStruct("v1.ScopedResourceSelectorRequirement", {
  scopeName: { type: text, goTypes: ["v1.ResourceQuotaScope"] },
  operator: { type: text, goTypes: ["v1.ScopeSelectorOperator"] },
  values: listOf(text),
});

const kindsOf = (apiVersion: string, kind: string): ConfigurationKind => {
  const version = apiVersion.split("/")[1] as string;
  const limited = configStruct(`${version}.LimitedResource`, {
    apiGroup: text,
    resource: text,
    matchContains: listOf(text),
    matchScopes: listOf(requirement),
  });
  return { apiVersion, kind, schema: configKind(`${version}.Configuration`, { limitedResources: listOf(limited) }) };
};

const kinds: readonly ConfigurationKind[] = [
  kindsOf("apiserver.config.k8s.io/v1", "ResourceQuotaConfiguration"),
  kindsOf("resourcequota.admission.k8s.io/v1beta1", "Configuration"),
  kindsOf("resourcequota.admission.k8s.io/v1alpha1", "Configuration"),
];

/**
 * Decodes and validates the configuration.
 * @throws ConfigurationError with upstream's message
 */
export function parseResourceQuotaConfiguration(bytes: Buffer): ResourceQuotaConfiguration {
  const { object } = decodeConfiguration(bytes, kinds, schemeName);
  const { limitedResources } = object as { readonly limitedResources?: readonly Partial<LimitedResource>[] | null };
  const errors = new FieldErrors();
  const limited = (limitedResources ?? []).map((one, index): LimitedResource => {
    const { apiGroup = "", resource = "", matchContains, matchScopes } = one;
    if (resource === "") errors.required(`limitedResources[${index}].resource`, "");
    return {
      apiGroup,
      resource,
      matchContains: matchContains ?? [],
      matchScopes: (matchScopes ?? []).map(scopeRequirement),
    };
  });
  if (!errors.empty) throw new ConfigurationError(errors.text);
  return { limited };
}
