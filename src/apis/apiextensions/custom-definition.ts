/**
 * Makes the ResourceDefinition of a CustomResourceDefinition, so that the server treats its kind as
 * a built-in one.
 *
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/customresource_handler.go,
 *         k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/customresource_discovery_controller.go
 */
import { createHash } from "node:crypto";
import { forbidden } from "../../apimachinery/errors.ts";
import { formatGroupVersion, type KubeObject } from "../../apimachinery/object.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import type {
  Conversion,
  ResourceDefinition,
  ServedVersion,
  StorageForm,
  SubresourceDefinition,
} from "../../catalog/contract.ts";
import type { Converter } from "../../catalog/converter.ts";
import { compareVersions } from "../../catalog/discovery.ts";
import type { Strategy } from "../../catalog/strategy-contract.ts";
import { parseEncoded } from "../../lib/json/parse.ts";
import { conform } from "../../lib/schema/decode.ts";
import type { Struct } from "../../lib/schema/schema.ts";
import { coerce, customSchema } from "../../lib/structural-schema/custom-schema.ts";
import type { JsonSchemaProps } from "../../lib/structural-schema/json-schema-props.ts";
import {
  NotStructuralError,
  parseStructuralSchema,
  type StructuralSchema,
} from "../../lib/structural-schema/structural-schema.ts";
import { noObserver } from "../../webhook/conversion-observer.ts";
import type { ConversionWebhooks } from "./conversion/webhook-clients.ts";
import { webhookConverter } from "./conversion/webhook-converter.ts";
import { customResource } from "./custom-resource.ts";
import type {
  Conversion as DefinedConversion,
  DefinitionNames,
  DefinitionSpec,
  DefinitionStatus,
  DefinitionVersion,
} from "./definition.ts";
import { objectMetaSchema } from "./prune-defaults.ts";
import type { ObjectRules } from "./rule-checker.ts";
import { isStructural } from "./structural-rules.ts";

/** Dependencies of custom kinds. */
export interface CustomDefinitionOptions {
  /** If undefined, `x-kubernetes-validations` are not evaluated. */
  readonly objectRules: ObjectRules | undefined;
  /** If undefined, conversions by webhook fail. */
  readonly webhooks?: ConversionWebhooks;
}

/**
 * Schemas are parseOrEmpty on first use. While the definition is being deleted, no objects can be
 * created.
 *
 * @param definition whose names are accepted; callers must not change it afterwards
 * @returns undefined for a definition without a storage version
 */
export function customDefinition(
  definition: KubeObject,
  options: CustomDefinitionOptions,
): ResourceDefinition | undefined {
  const spec: DefinitionSpec = definition.spec ?? {};
  const names: DefinitionNames = definition.status?.acceptedNames ?? {};
  const { group = "", versions = [] } = spec;
  const stored = versions.find(({ storage }) => storage === true);
  if (stored === undefined) return undefined;
  const kind = new CustomKind(definition);
  const storage = storageForm(kind, stored);
  const strategies = new Map(versions.map((version) => [version, lazyStrategy(kind, version, options)]));
  const servedVersions = versions.toSorted((a, b) => compareVersions(a.name ?? "", b.name ?? ""));
  return {
    group,
    resource: names.plural ?? "",
    singular: names.singular ?? "",
    kind: kind.name,
    listKind: names.listKind ?? "",
    namespaced: spec.scope === "Namespaced",
    shortNames: names.shortNames ?? [],
    categories: names.categories ?? [],
    versions: servedVersions.map((version) =>
      servedVersion(kind, version, stored, strategies.get(version) as Strategy),
    ),
    storage,
    allowCreateOnUpdate: false,
    allowUnconditionalUpdate: false,
    deleteReturnsObject: false,
    custom: true,
    strategy: sharedStrategy(strategies.get(stored) as Strategy, [...strategies.values()]),
    ...(kind.hasConverter && { converter: kindConverter(kind, versions, options) }),
  };
}

/**
 * The default warning of a deprecated version, which recommends the highest-priority served
 * version.
 */
function deprecationWarning(
  { name = "" }: DefinitionVersion,
  { group = "", names = {}, versions = [] }: DefinitionSpec,
): string {
  const better = versions
    .filter(
      (other) => other.served === true && other.deprecated !== true && compareVersions(other.name ?? "", name) < 0,
    )
    .sort((a, b) => compareVersions(a.name ?? "", b.name ?? ""));
  const kind = names.kind ?? "";
  const instead = better[0] === undefined ? "" : `; use ${formatGroupVersion(group, better[0].name ?? "")} ${kind}`;
  return `${formatGroupVersion(group, name)} ${kind} is deprecated${instead}`;
}

/** A custom kind, with a cache of its parseOrEmpty schemas. */
class CustomKind {
  readonly group: string;
  readonly name: string;
  readonly plural: string;
  readonly listKind: string;
  /** Name of the definition. */
  readonly definition: string;
  readonly #structures = new Map<DefinitionVersion, StructuralSchema>();
  readonly #schemas = new Map<DefinitionVersion, Struct>();

  readonly isTerminating: boolean;
  readonly #hasOldVersions: boolean;
  readonly #spec: DefinitionSpec;

  constructor({ metadata, spec = {}, status }: KubeObject) {
    const names: DefinitionNames = status?.acceptedNames ?? {};
    this.isTerminating = metadata.deletionTimestamp !== undefined;
    this.#hasOldVersions = hasOldVersions(spec, status);
    this.#spec = spec as DefinitionSpec;
    this.group = spec.group ?? "";
    this.name = names.kind ?? "";
    this.plural = names.plural ?? "";
    this.listKind = names.listKind ?? "";
    this.definition = metadata.name ?? "";
  }

  get #preserveUnknownFields(): boolean {
    return this.#spec.preserveUnknownFields === true;
  }

  get convertsByWebhook(): boolean {
    return (this.#spec.conversion?.strategy ?? "None") !== "None";
  }

  /**
   * Whether objects can be stored at other versions than the storage version; each is then read with
   * the schema of its version.
   */
  get hasConverter(): boolean {
    return this.convertsByWebhook || this.#hasOldVersions;
  }

  get webhook(): NonNullable<DefinedConversion["webhook"]> {
    return this.#spec.conversion?.webhook ?? {};
  }

  /** @returns undefined for a version that is not deprecated */
  warning(version: DefinitionVersion): string | undefined {
    return version.deprecated === true
      ? (version.deprecationWarning ?? deprecationWarning(version, this.#spec))
      : undefined;
  }

  structure(version: DefinitionVersion): StructuralSchema {
    let structure = this.#structures.get(version);
    if (structure === undefined) {
      structure = parseOrEmpty(version.schema?.openAPIV3Schema);
      this.#structures.set(version, structure);
    }
    return structure;
  }

  /**
   * Prunes the object, and drops invalid metadata, because it may have been stored with another
   * schema.
   */
  coerce(object: KubeObject, version: DefinitionVersion): KubeObject {
    const preserveUnknownFields = this.#preserveUnknownFields;
    coerce(object, this.structure(version), {
      objectMeta: objectMetaSchema(),
      preserveUnknownFields,
      invalid: "drop",
    });
    return object;
  }

  schema(version: DefinitionVersion): Struct {
    let schema = this.#schemas.get(version);
    if (schema === undefined) {
      const { group, name: kind } = this;
      const options = {
        group,
        version: version.name ?? "",
        kind,
        objectMeta: objectMetaSchema(),
        preserveUnknownFields: this.#preserveUnknownFields,
      };
      schema = customSchema(this.structure(version), options);
      this.#schemas.set(version, schema);
    }
    return schema;
  }
}

/**
 * @returns a schema without properties, which prunes all fields, if the source is absent or not
 *   structural
 */
function parseOrEmpty(source: JsonSchemaProps | undefined): StructuralSchema {
  try {
    if (source !== undefined) return parseStructuralSchema(source);
  } catch (error) {
    if (!(error instanceof NotStructuralError)) throw error;
  }
  return parseStructuralSchema({ type: "object" });
}

function storageForm(kind: CustomKind, stored: DefinitionVersion): StorageForm {
  const { group, plural } = kind;
  const version = stored.name ?? "";
  return {
    group,
    version,
    kind: kind.name,
    get schema() {
      return kind.schema(stored);
    },
    prefix: `/registry/${group}/${plural}/`,
    versionHash: createHash("sha256")
      .update(`${group}/${version}/${kind.name}`)
      .digest()
      .subarray(0, 8)
      .toString("base64"),
  };
}

/**
 * The verbs in discovery until the last object is deleted. The server still accepts updates, so
 * that clients can remove finalizers.
 */
const terminatingVerbs = ["delete", "deletecollection", "get", "list", "watch"];
/** In the order of upstream's discovery. */
const verbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];

function servedVersion(
  kind: CustomKind,
  version: DefinitionVersion,
  stored: DefinitionVersion,
  strategy: Strategy,
): ServedVersion {
  const { name = "", served, schema, selectableFields = [] } = version;
  const source = schema?.openAPIV3Schema;
  const warning = kind.warning(version);
  return {
    version: name,
    get schema() {
      return kind.schema(version);
    },
    served: served === true,
    subresources: subresourcesOf(kind, version),
    ...(version !== stored && { conversion: conversionBetween(kind, version, stored) }),
    strategy,
    ...(warning !== undefined && { deprecated: { warning } }),
    verbs,
    ...(kind.isTerminating && { discoveredVerbs: terminatingVerbs }),
    openApi: {
      get schema() {
        return source !== undefined && isStructural(source) ? source : undefined;
      },
      selectableFields: selectableFields.map(({ jsonPath = "" }) => jsonPath.replace(/^\./, "")),
    },
  };
}

function subresourcesOf(kind: CustomKind, version: DefinitionVersion): SubresourceDefinition[] {
  const { status, scale } = version.subresources ?? {};
  const subresources: SubresourceDefinition[] = [];
  const methods = ["get", "patch", "update"];
  if (status !== undefined) {
    subresources.push({
      name: "status",
      verbs: methods,
      kind: kind.name,
      get schema() {
        return kind.schema(version);
      },
    });
  }
  if (scale !== undefined) {
    const kindGroupVersion = { group: "autoscaling", version: "v1" };
    subresources.push({
      name: "scale",
      verbs: methods,
      kind: "Scale",
      kindGroupVersion,
      schema: builtinSchema("io.k8s.api.autoscaling.v1.Scale"),
    });
  }
  return subresources;
}

/** Whether objects may be stored at other versions, which the definition still has, than the storage version. */
function hasOldVersions(spec: DefinitionSpec, { storedVersions = [] }: DefinitionStatus = {}): boolean {
  return (spec.versions ?? []).some(({ name = "", storage }) => storage !== true && storedVersions.includes(name));
}

function kindConverter(
  kind: CustomKind,
  versions: readonly DefinitionVersion[],
  options: CustomDefinitionOptions,
): Converter {
  const byName = new Map(versions.map((version) => [formatGroupVersion(kind.group, version.name ?? ""), version]));
  const convert = kind.convertsByWebhook
    ? byWebhook(kind, (apiVersion) => byName.has(apiVersion), options)
    : withApiVersion;
  return {
    schemaOf(apiVersion) {
      const version = byName.get(apiVersion);
      return version && kind.schema(version);
    },
    convert,
    prune(object, apiVersion) {
      kind.coerce(object, byName.get(apiVersion) as DefinitionVersion);
    },
  };
}

/** The conversion strategy `None`. */
async function withApiVersion(objects: readonly Buffer[], apiVersion: string): Promise<KubeObject[]> {
  return objects.map((json) => ({ ...(parseEncoded(json) as KubeObject), apiVersion }));
}

/** The conversion strategy `Webhook`. */
function byWebhook(
  kind: CustomKind,
  hasVersion: (apiVersion: string) => boolean,
  { webhooks }: CustomDefinitionOptions,
): Converter["convert"] {
  const { clientConfig = {}, conversionReviewVersions: reviewVersions = [] } = kind.webhook;
  return webhookConverter({
    name: kind.definition,
    listKind: kind.listKind,
    hasVersion,
    reviewVersions,
    client() {
      if (webhooks === undefined) throw new Error("conversion webhooks are not called");
      return webhooks.client(clientConfig);
    },
    observer: webhooks?.observer ?? noObserver,
  });
}

/**
 * The conversion strategy `None`: changes the apiVersion and drops the fields that are not in the
 * schema of the target version. An object is processed in the version of the request, and loses
 * other fields when it is stored.
 */
function conversionBetween(kind: CustomKind, version: DefinitionVersion, stored: DefinitionVersion): Conversion {
  const { name = "" } = version;
  const { name: storageVersion = "" } = stored;
  const renamed = (object: KubeObject, to: string): KubeObject => {
    object.apiVersion = formatGroupVersion(kind.group, to);
    return object;
  };
  const toStorage = (object: KubeObject): KubeObject => renamed(object, storageVersion);
  const fromStorage = (object: KubeObject): KubeObject => kind.coerce(renamed(object, name), version);
  // The converter has converted the object already, except for its apiVersion.
  if (kind.hasConverter) return { toStorage, fromStorage };
  return {
    toStorage,
    fromStorage,
    losses: {
      seen: (object) => kind.coerce(object, version),
      stored: (object) => conform(renamed(object, storageVersion), kind.schema(stored)).object as KubeObject,
    },
  };
}

function lazyStrategy(
  kind: CustomKind,
  version: DefinitionVersion,
  { objectRules }: CustomDefinitionOptions,
): Strategy {
  return customResource({
    apiVersion: formatGroupVersion(kind.group, version.name ?? ""),
    get structure() {
      return kind.structure(version);
    },
    subresources: version.subresources ?? {},
    selectableFields: version.selectableFields ?? [],
    columns: version.additionalPrinterColumns ?? [],
    objectRules,
    ...(kind.isTerminating && { rejectCreation: (object: KubeObject) => rejectCreation(kind, object) }),
  });
}

/** @throws ApiError 403 Forbidden */
function rejectCreation({ group, plural }: CustomKind, { metadata: { name = "" } }: KubeObject): never {
  throw forbidden(
    { group, resource: plural },
    name,
    "create not allowed while custom resource definition is terminating",
  );
}

/**
 * The strategy for callers without a version: the selectable fields of all versions are available.
 */
function sharedStrategy(stored: Strategy, strategies: readonly Strategy[]): Strategy {
  return {
    ...stored,
    selectableFields: Object.assign({}, ...strategies.map(({ selectableFields }) => selectableFields)),
  };
}
