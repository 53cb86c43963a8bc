/**
 * CustomResourceDefinition: the decoded form (apiextensions.k8s.io/v1), and upstream's internal
 * form for validation.
 */

import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { equalValues } from "../../lib/schema/equal.ts";
import type { Type } from "../../lib/schema/schema.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";
import type { WebhookClientConfig } from "../../webhook/client-config.ts";

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

/** The parts that may differ between versions. The internal form has equal ones in `spec`. */
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

/** How objects are converted between versions. */
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
 * Upstream's internal form, which determines the paths of errors: parts that are equal in all
 * versions are in `spec`. A definition with one version has all parts there.
 */
export interface LiftedSpec {
  readonly spec: DefinitionSpec;
  /** The parts that are equal in all versions; undefined where versions differ. */
  readonly common: VersionParts;
  /** The versions without the common parts. */
  readonly versions: readonly DefinitionVersion[];
}

const parts = ["schema", "subresources", "additionalPrinterColumns", "selectableFields"] as const;

/** Moves equal parts of the versions to `common`. */
export function liftSpec(spec: DefinitionSpec): LiftedSpec {
  const versions = spec.versions ?? [];
  const [first] = versions;
  if (first === undefined) return { spec, common: {}, versions };
  const alike = parts.filter((part) => versions.every((version) => isSamePart(part, version, first)));
  const common: VersionParts = Object.fromEntries(alike.map((part) => [part, first[part]]));
  return { spec, common, versions: versions.map((version) => without(version, alike)) };
}

const versionDefinition = "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinitionVersion";

/** Compares as Go does, where false and absent are equal. */
export function isSamePart(part: keyof VersionParts, a: VersionParts, b: VersionParts): boolean {
  return equalValues(a[part], b[part], builtinSchema(versionDefinition).byName.get(part)?.type as Type);
}

function without(version: DefinitionVersion, alike: readonly (keyof VersionParts)[]): DefinitionVersion {
  const rest: { -readonly [part in keyof DefinitionVersion]: DefinitionVersion[part] } = { ...version };
  for (const part of alike) delete rest[part];
  return rest;
}

/** All schemas, the common one first. */
export function schemasOf({ common, versions }: LiftedSpec): JsonSchemaProps[] {
  return [common, ...versions].map(({ schema }) => schema?.openAPIV3Schema).filter((schema) => schema !== undefined);
}
