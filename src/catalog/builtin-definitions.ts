/**
 * The built-in resources: rows of src/apimachinery/data/resources.json, combined with the strategies of kinds.
 */
import assert from "node:assert/strict";
import { binaryMinor, defaultVersion } from "../apimachinery/effective-version.ts";
import type { Struct } from "../lib/schema/schema.ts";
import { builtinSchema, definitionOf } from "./builtin-schemas.ts";
import type {
  Conversion,
  ResourceDefinition,
  RuntimeConfig,
  ServedVersion,
  StorageForm,
  StoredConversion,
  SubresourceDefinition,
} from "./contract.ts";
import { type ResourceRow, readResourcesTable, type SubresourceRow, type VersionRow } from "./resources-table.ts";
import { strategy } from "./strategy.ts";
import type { Strategy } from "./strategy-contract.ts";

interface BuiltinOptions {
  /** By `group/resource`; kinds without an entry have the default strategy. */
  readonly strategies: Readonly<Record<string, Strategy>>;
  /**
   * By `group/resource/version`; required if a version's fields differ from those of the storage
   * version.
   */
  readonly conversions: Readonly<Record<string, Conversion>>;
  /** By the kind of storage, and then as in {@link ResourceDefinition.storedConversions}. */
  readonly storedConversions?: Readonly<Record<string, Readonly<Record<string, StoredConversion>>>>;
  readonly served: RuntimeConfig;
  /** The oldest release of the servers that share the store, such as 34: it must know the storage versions. */
  readonly minCompatible?: number;
}

/**
 * The definitions of all built-in resources.
 *
 * @returns served and unserved definitions in discovery order; schemas are built when first read
 */
export function builtinDefinitions(options: BuiltinOptions): ResourceDefinition[] {
  return readResourcesTable().resources.map((row) => definitionFrom(row, options));
}

/** A resource at one version, as `--runtime-config` sees it. */
export interface BuiltinVersion {
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  /** Whether it is served without `--runtime-config`. */
  readonly servedByDefault: boolean;
  /** The release that introduced it, such as 34; undefined if all that can be emulated have it. */
  readonly introduced?: number;
  /** The first release that does not have it; undefined if all that can be emulated do. */
  readonly removed?: number;
}

/** The versions that `--runtime-config` can enable or disable. */
export function builtinVersions(): BuiltinVersion[] {
  return readResourcesTable().resources.flatMap(({ group, resource, versions }) =>
    versions.map(({ version, served, introduced, removed }) => ({
      group,
      version,
      resource,
      servedByDefault: served === true,
      ...(introduced !== undefined && { introduced }),
      ...(removed !== undefined && { removed }),
    })),
  );
}

function definitionFrom(row: ResourceRow, options: BuiltinOptions): ResourceDefinition {
  const {
    strategies,
    conversions,
    storedConversions = {},
    served,
    minCompatible = defaultVersion.minCompatible,
  } = options;
  const key = `${row.group}/${row.resource}`;
  const special = Object.hasOwn(strategies, key) ? strategies[key] : undefined;
  const hasStatus = row.versions.some(({ subresources }) => subresources?.some(({ name }) => name === "status"));
  return {
    group: row.group,
    resource: row.resource,
    singular: row.singular,
    kind: row.kind,
    listKind: `${row.kind}List`,
    namespaced: row.namespaced === true,
    shortNames: row.shortNames ?? [],
    categories: row.categories ?? [],
    versions: row.versions.map((version) => servedVersion(row, version, conversions, served)),
    storage: row.storage && storageForm(row.storage, minCompatible),
    allowCreateOnUpdate: row.createOnUpdate === true,
    allowUnconditionalUpdate: row.conditionalUpdate !== true,
    deleteReturnsObject: row.deleteReturnsObject === true,
    custom: false,
    storedConversions: (row.storage && storedConversions[row.storage.kind]) ?? {},
    strategy: strategy({ ...special, isolatesStatus: hasStatus && special?.isolatesStatus !== false }),
  };
}

const allVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function servedVersion(
  { group, resource, kind }: ResourceRow,
  row: VersionRow,
  conversions: Readonly<Record<string, Conversion>>,
  runtimeConfig: RuntimeConfig,
): ServedVersion {
  const key = `${group}/${resource}/${row.version}`;
  const conversion = Object.hasOwn(conversions, key) ? conversions[key] : undefined;
  const served = runtimeConfig.serves(group, row.version, resource);
  assert.ok(!served || row.converted !== true || conversion !== undefined, `${key} is served but has no conversion`);
  const deprecated = deprecationOf(row.deprecated);
  let schema: Struct | undefined;
  return {
    version: row.version,
    get schema(): Struct {
      schema ??= schemaOf(group, row.version, kind);
      return schema;
    },
    served,
    ...(deprecated !== undefined && { deprecated }),
    subresources: (row.subresources ?? []).map((one) => subresource(group, row.version, one)),
    ...(conversion !== undefined && { conversion }),
    verbs: row.verbs ?? allVerbs,
  };
}

function subresource(group: string, version: string, row: SubresourceRow): SubresourceDefinition {
  const { group: kindGroup, version: kindVersion } = row.kindGroupVersion ?? { group, version };
  return {
    ...row,
    get schema(): Struct | undefined {
      const definition = definitionOf(kindGroup, kindVersion, row.kind);
      return definition === undefined ? undefined : builtinSchema(definition);
    },
  };
}

/** @param minCompatible the oldest release that shares the store */
function storageForm(row: NonNullable<ResourceRow["storage"]>, minCompatible: number): StorageForm {
  const { group, kind, prefix, before = [] } = row;
  const [, version, hash] = before.findLast(([release]) => minCompatible < release) ?? [0, row.version, row.hash];
  let schema: Struct | undefined;
  return {
    group,
    version,
    kind,
    get schema(): Struct {
      schema ??= schemaOf(group, version, kind);
      return schema;
    },
    prefix,
    versionHash: hash,
  };
}

function schemaOf(group: string, version: string, kind: string): Struct {
  const definition = definitionOf(group, version, kind);
  assert.ok(definition !== undefined, `no type for ${group}/${version} ${kind}`);
  return builtinSchema(definition);
}

/**
 * Deprecations do not follow the emulated version. Source: `registerResourceHandlers` in
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/installer.go.
 *
 * @returns undefined if the version is not deprecated, or only by a later release
 */
function deprecationOf([since, removedIn = "", replacement = ""]: readonly string[] = []): ServedVersion["deprecated"] {
  if (since === undefined || Number(since.split(".")[1]) > binaryMinor) return undefined;
  // The table has `storage.k8s.io/v1/VolumeAttributesClass`, the warning a space before the kind.
  const instead = replacement.replace(/\/([^/]+)$/, " $1");
  return { since, ...(removedIn !== "" && { removedIn }), ...(replacement !== "" && { replacement: instead }) };
}
