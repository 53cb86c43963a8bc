/**
 * Resource definitions: data, plus a strategy with the code of the kind. Other areas treat built-in
 * and custom resources alike.
 */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { KubeObject, ObjectMeta } from "../apimachinery/object.ts";
import type { Turns } from "../apimachinery/turns.ts";
import type { Struct } from "../lib/schema/schema.ts";
import type { JsonSchemaProps } from "../lib/structural-schema/json-schema-props.ts";
import type { Entry, WatchCache } from "../watch-cache/contract.ts";
import type { EntrySource } from "../watch-cache/entry.ts";
import type { Converter } from "./converter.ts";
import type { Strategy } from "./strategy-contract.ts";

/** A subresource at one version. */
export interface SubresourceDefinition {
  /** `status`, `scale`, `binding` … */
  readonly name: string;
  readonly verbs: readonly string[];
  /** The kind of the request and response body. */
  readonly kind: string;
  /** Group and version of that kind if they differ from those of the resource. */
  readonly kindGroupVersion?: { readonly group: string; readonly version: string };
  readonly schema: Struct | undefined;
  /** HTTP methods of a connect subresource (exec, proxy …). */
  readonly connect?: readonly string[];
  /** Additional query parameters by operation (`connect`, `get`), as OpenAPI shows them. */
  readonly query?: Readonly<Record<string, readonly string[]>>;
  /** The response is text instead of an object (log). */
  readonly plainText?: boolean;
  /** It cannot be shown as a Table. */
  readonly noTables?: boolean;
}

/** A version of a resource; `served` says whether clients can use it. */
export interface ServedVersion {
  readonly version: string;
  readonly schema: Struct;
  /** Whether the version is enabled, by default or by `--runtime-config`. */
  readonly served: boolean;
  readonly deprecated?: Deprecation | AnnouncedDeprecation;
  readonly subresources: readonly SubresourceDefinition[];
  /**
   * Undefined if this version and the storage version have the same schema, so that only apiVersion
   * differs.
   */
  readonly conversion?: Conversion;
  /** The strategy of the kind at this version; undefined for that of the definition. */
  readonly strategy?: Strategy;
  /** Verbs of the collection and of single objects. */
  readonly verbs: readonly string[];
  /** The verbs in discovery documents, if they are not all verbs. */
  readonly discoveredVerbs?: readonly string[];
  /** The published schema of a custom kind; built-in kinds publish `schema`. */
  readonly openApi?: PublishedSchema;
}

/** The deprecation of a built-in version, by minor releases such as `1.33`. */
export interface Deprecation {
  readonly since: string;
  readonly removedIn?: string;
  /** Such as `storage.k8s.io/v1 VolumeAttributesClass`. */
  readonly replacement?: string;
}

/** The deprecation of a custom version, with the warning of its definition. */
export interface AnnouncedDeprecation {
  readonly warning: string;
  readonly removedIn?: never;
}

/**
 * The published schema of a custom kind. Immutable: an update of the definition creates another
 * one.
 */
export interface PublishedSchema {
  /**
   * The structural schema of the definition; undefined if there is none or it is not structural:
   * any object is valid.
   */
  readonly schema: JsonSchemaProps | undefined;
  /** Paths such as `spec.color`. */
  readonly selectableFields: readonly string[];
}

/**
 * Conversion between a version and the storage version. Implementations may modify and return their
 * argument.
 */
export interface Conversion {
  /** Converts a written object to the storage version without losses. */
  toStorage(object: KubeObject): KubeObject;
  /** Converts a stored object to this version. */
  fromStorage(object: KubeObject): KubeObject;
  /** Undefined if both directions are lossless, as for built-in kinds. */
  readonly losses?: ConversionLosses;
}

/**
 * The losses between versions whose schemas have different fields. Both functions return objects at
 * the storage version.
 */
export interface ConversionLosses {
  /** The part of a stored object that a client of this version sees. */
  seen(object: KubeObject): KubeObject;
  /** The part of an object written at this version that is stored. */
  stored(object: KubeObject): KubeObject;
}

/** A resource, built-in or custom. */
export interface ResourceDefinition {
  readonly group: string;
  /** The plural name in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** In priority order, as in discovery. */
  readonly versions: readonly ServedVersion[];
  /**
   * How objects are stored; may be in another group (events). Undefined for virtual resources,
   * which store nothing.
   */
  readonly storage: StorageForm | undefined;
  /** A PUT to a name that does not exist creates the object. */
  readonly allowCreateOnUpdate: boolean;
  /** A PUT without resourceVersion is accepted. */
  readonly allowUnconditionalUpdate: boolean;
  /** The deletion of one object returns the object instead of a Status. */
  readonly deleteReturnsObject: boolean;
  /** Whether this is a custom resource, whose list items have kind and apiVersion. */
  readonly custom: boolean;
  readonly strategy: Strategy;
  /**
   * Conversions to the storage version by apiVersion, for versions that are not in `versions` and
   * at which other servers stored objects of this kind. Versions that differ from the storage
   * version only in their apiVersion are not listed.
   */
  readonly storedConversions?: Readonly<Record<string, StoredConversion>>;
  /**
   * The conversion webhook, if the definition has one; `conversion` of the versions only changes
   * apiVersion then.
   */
  readonly converter?: Converter;
}

/** The conversion from a version that is only stored. */
export interface StoredConversion {
  /**
   * Sets the defaults that differ from those of the storage version, and converts an object to it.
   * May modify and return its argument.
   */
  toStorage(object: KubeObject): KubeObject;
  /**
   * Set if kube-apiserver stores objects at this version: converts an object to it, which is not
   * changed.
   */
  toShared?(object: KubeObject): KubeObject;
  /** The version lacks defaults that the storage version has: `toStorage` sets all. */
  readonly setsAllDefaults?: boolean;
}

/** The storage version of a resource and the prefix of its keys. */
export interface StorageForm {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Struct;
  /**
   * Such as `/registry/configmaps/`, followed by namespace and name. Definitions with the same
   * prefix share one cache.
   */
  readonly prefix: string;
  /** `storageVersionHash` in discovery. */
  readonly versionHash: string;
}

/** An installed definition. */
export interface Resource {
  readonly definition: ResourceDefinition;
  /** Undefined for virtual resources. */
  readonly store: ResourceStore | undefined;
}

/** The storage and watch cache of a resource. */
export interface ResourceStore {
  readonly form: StorageForm;
  readonly fingerprint: number;
  /** How stored objects become entries of the watch cache. */
  readonly source: EntrySource;
  readonly cache: WatchCache;
  /** Reads and watches are answered as upstream answers those of a resource without a watch cache. */
  readonly uncached: boolean;
  /** Serializes the writers of a key that have lost a race. */
  readonly turns: Turns;
  readonly gates: FeatureGates | undefined;
  /** @returns milliseconds since 1970 */
  now(): number;
  /** The key of an object, such as `/registry/configmaps/default/a`. */
  keyOf(namespace: string, name: string): string;
  /**
   * Decodes a new object at the storage version with metadata.resourceVersion, which the caller may
   * modify.
   */
  decode(entry: Entry): KubeObject;
}

/** The versions and resources that are enabled. */
export interface RuntimeConfig {
  serves(group: string, version: string, resource: string): boolean;
}

/** A resource at a version. */
export interface Resolved {
  /** Its strategy is that of the version. */
  readonly resource: Resource;
  readonly version: ServedVersion;
  /** Set if a conversion webhook converts the objects of this resource. */
  readonly converted?: ConvertedVersion;
}

/**
 * The objects of a resource at a version to which a {@link Converter} converts the stored objects.
 */
export interface ConvertedVersion {
  /** The same resource with this version as the storage version, for encoding converted entries. */
  readonly shown: Resolved;
  /**
   * Converts entries to this version, in the same order; entries at this version are returned as
   * they are.
   * @throws ConversionError, by rejection
   */
  show(entries: readonly Entry[], options?: ShowOptions): readonly Entry[] | Promise<readonly Entry[]>;
  /**
   * Converts an entry again instead of using the cached conversion, which is kept for other
   * requests.
   * @throws ConversionError
   */
  showReconverted(entry: Entry): Promise<Entry>;
  /**
   * Decodes a converted entry, with the apiVersion of the storage version. The caller may modify
   * it.
   *
   * @param options `reconvert`: converts again, as `showReconverted` does
   * @throws ConversionError
   */
  present(entry: Entry, options?: { readonly reconvert?: boolean }): Promise<KubeObject>;
  /**
   * Converts an object that was written at this version to the storage version.
   *
   * @param object with the apiVersion of the storage version; the result may share parts with it
   * @throws ConversionError · DecodeError when the converted object does not fit the schema
   */
  stored(object: KubeObject): Promise<KubeObject>;
  /**
   * Converts an object at the storage version back to this one, for the answer of a dry run.
   *
   * @param written the metadata of the object before it was converted, which has its resourceVersion
   * @throws ConversionError
   */
  readBack(object: KubeObject, written: ObjectMeta): Promise<KubeObject>;
  /**
   * Converts the cached conversion of an entry to the storage version, and the entry again to this
   * version. Upstream's store does so before a write that was based on the cached conversion fails
   * or removes the object, so that an error of the converter is returned first.
   * @throws ConversionError
   */
  recheck(entry: Entry): Promise<void>;
}

/** Options of {@link ConvertedVersion.show}. */
export interface ShowOptions {
  /** The entries are a list, which error messages name. */
  readonly list?: boolean;
}

/** Finds the resources of a server. */
export interface Catalog {
  /** Finds a version, served or not. */
  find(group: string, version: string, resource: string): Resolved | undefined;
  /**
   * Finds a served version. Versions that `--runtime-config` disables are also disabled for
   * controllers.
   */
  findServed(group: string, version: string, resource: string): Resolved | undefined;
  /** Finds a resource with at least one served version. */
  findResource(group: string, resource: string): Resource | undefined;
  /** Finds the version of a kind, served or not. */
  findKind(group: string, version: string, kind: string): Resolved | undefined;
  /** All definitions, served or not: groups in discovery order, resources by name. */
  definitions(): readonly ResourceDefinition[];
  /** Whether a group has a built-in resource with a served version. */
  isBuiltinGroup(group: string): boolean;
  /**
   * Incremented by every change of the definitions, so that documents derived from them can be
   * cached.
   */
  readonly generation: number;
}

/** A catalog whose definitions can change (custom resources). */
export interface MutableCatalog extends Catalog {
  /**
   * Adds a definition, or replaces the one with the same group and resource.
   *
   * @returns the installed resource that was replaced, which the caller closes
   */
  add(definition: ResourceDefinition): Resource | undefined;
  /** Removes a definition. @returns its installed resource, which the caller closes */
  remove(group: string, resource: string): Resource | undefined;
}
