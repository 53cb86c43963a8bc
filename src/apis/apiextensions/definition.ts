/** A CustomResourceDefinition as it is decoded (apiextensions.k8s.io/v1), and as upstream looks at it when it validates. */

import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { equalValues } from "../../lib/schema/equal.ts";
import type { Type } from "../../lib/schema/schema.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";

export interface DefinitionNames {
  readonly plural?: string;
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  readonly kind?: string;
  readonly listKind?: string;
  readonly categories?: readonly string[];
}

export interface PrinterColumn {
  readonly name?: string;
  readonly type?: string;
  readonly format?: string;
  readonly description?: string;
  readonly priority?: number;
  readonly jsonPath?: string;
}

export interface SelectableField {
  readonly jsonPath?: string;
}

export interface ScaleSubresource {
  readonly specReplicasPath?: string;
  readonly statusReplicasPath?: string;
  readonly labelSelectorPath?: string;
}

export interface Subresources {
  readonly status?: object;
  readonly scale?: ScaleSubresource;
}

/** What may differ from version to version, and stands in `spec` when it does not. */
export interface VersionParts {
  readonly schema?: { readonly openAPIV3Schema?: JsonSchemaProps };
  readonly subresources?: Subresources;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
  readonly selectableFields?: readonly SelectableField[];
}

export interface DefinitionVersion extends VersionParts {
  readonly name?: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly deprecated?: boolean;
  readonly deprecationWarning?: string;
}

export interface WebhookClientConfig {
  readonly url?: string;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string;
    readonly port?: number;
  };
  /** Base64. */
  readonly caBundle?: string;
}

export interface Conversion {
  readonly strategy?: string;
  readonly webhook?: {
    readonly clientConfig?: WebhookClientConfig;
    readonly conversionReviewVersions?: readonly string[];
  };
}

export interface DefinitionSpec {
  readonly group?: string;
  readonly names?: DefinitionNames;
  readonly scope?: string;
  readonly versions?: readonly DefinitionVersion[];
  readonly conversion?: Conversion;
  readonly preserveUnknownFields?: boolean;
}

export interface DefinitionStatus {
  readonly conditions?: readonly { readonly type?: string; readonly status?: string }[];
  readonly acceptedNames?: DefinitionNames;
  readonly storedVersions?: readonly string[];
}

/**
 * What all versions have alike is lifted out of them: upstream's internal form, which names the fields of errors. One version always has all
 * alike.
 */
export interface LiftedSpec {
  readonly spec: DefinitionSpec;
  /** Of all versions; each undefined where versions differ, and where there is none. */
  readonly common: VersionParts;
  /** Without what is common. */
  readonly versions: readonly DefinitionVersion[];
}

const parts = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;

export function liftSpec(spec: DefinitionSpec): LiftedSpec {
  const versions = spec.versions ?? [];
  const [first] = versions;
  if (first === undefined) return { spec, common: {}, versions };
  const alike = parts.filter((part) => versions.every((version) => isSamePart(part, version, first)));
  const common: VersionParts = Object.fromEntries(alike.map((part) => [part, first[part]]));
  return { spec, common, versions: versions.map((version) => without(version, alike)) };
}

const versionDefinition = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion";

/** As Go has it, to which false and nothing are the same. */
export function isSamePart(part: keyof VersionParts, a: VersionParts, b: VersionParts): boolean {
  return equalValues(a[part], b[part], builtinSchema(versionDefinition).byName.get(part)?.type as Type);
}

function without(version: DefinitionVersion, alike: readonly (keyof VersionParts)[]): DefinitionVersion {
  const rest: { -readonly [part in keyof DefinitionVersion]: DefinitionVersion[part] } = { ...version };
  for (const part of alike) delete rest[part];
  return rest;
}

/** Every schema, the common one first. */
export function schemasOf({ common, versions }: LiftedSpec): JsonSchemaProps[] {
  return [common, ...versions].map(({ schema }) => schema?.openAPIV3Schema).filter((schema) => schema !== undefined);
}
