/** What a resource is: data plus a little code. Built-in and custom ones are the same to everyone else. Source: architecture, "concepts". */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Turns } from "../apimachinery/turns.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { Struct } from "../lib/schema/schema.ts";
import type { JsonSchemaProps } from "../lib/structural-schema/json-schema-props.ts";
import type { Entry, WatchCache } from "../watch-cache/contract.ts";
import type { EntrySource } from "../watch-cache/entry.ts";
import type { Converter } from "./converter.ts";

export interface SubresourceDefinition {
  /** `status`, `scale`, `binding` … */
  readonly name: string;
  readonly verbs: readonly string[];
  /** Kind of its body and answer. */
  readonly kind: string;
  /** Group and version of that kind where they are not the resource's. */
  readonly kindGroupVersion?: { readonly group: string; readonly version: string };
  readonly schema: Struct | undefined;
  /** HTTP methods of a connect subresource (exec, proxy …). */
  readonly connect?: readonly string[];
  /** Query parameters of its own by operation (`connect`, `get`), as OpenAPI shows them. */
  readonly query?: Readonly<Record<string, readonly string[]>>;
  /** Answers with text rather than an object (log). */
  readonly plainText?: boolean;
}

export interface ServedVersion {
  readonly version: string;
  readonly schema: Struct;
  /** Off unless switched on by `--runtime-config`. */
  readonly served: boolean;
  readonly deprecated?: Deprecation | AnnouncedDeprecation;
  readonly subresources: readonly SubresourceDefinition[];
  /** Undefined where the schemas of this version and of the storage version are identical, so that only apiVersion differs. */
  readonly conversion?: Conversion;
  /** What is special about the kind at this version; undefined where it is what the definition has. */
  readonly strategy?: Strategy;
  /** Verbs of the collection and the item. */
  readonly verbs: readonly string[];
  /** Those that discovery tells, where they are not all. */
  readonly discoveredVerbs?: readonly string[];
  /** What OpenAPI says of a custom kind; built-in ones are described by their schemas. */
  readonly openApi?: PublishedSchema;
}

/** `replacement`: as `storage.k8s.io/v1 VolumeAttributesClass`. */
export interface Deprecation {
  readonly since: string;
  readonly removedIn?: string;
  readonly replacement?: string;
}

/** In the words of a definition. */
export interface AnnouncedDeprecation {
  readonly warning: string;
  readonly removedIn?: never;
}

/** Never changed: what changes is another one. */
export interface PublishedSchema {
  /** As the definition has it, and structural; undefined where it is not, or where there is none: any object will do then. */
  readonly schema: JsonSchemaProps | undefined;
  /** Paths such as `spec.colour`. */
  readonly selectableFields: readonly string[];
}

/** The object handed in may be changed and returned. */
export interface Conversion {
  /** Loses nothing: what is written is worked on as it was sent. */
  toStorage(object: KubeObject): KubeObject;
  fromStorage(object: KubeObject): KubeObject;
  /** Undefined where both directions lose nothing, as those of built-in kinds. */
  readonly losses?: ConversionLosses;
}

/** Versions whose schemas do not know the same fields. Both leave the object at the storage version. */
export interface ConversionLosses {
  /** What a client of this version sees of a stored object. */
  seen(object: KubeObject): KubeObject;
  /** What is stored of an object that was written at this version. */
  stored(object: KubeObject): KubeObject;
}

export interface ResourceDefinition {
  readonly group: string;
  /** Plural, as in paths. */
  readonly resource: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly namespaced: boolean;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  /** In priority order, as discovery shows them. */
  readonly versions: readonly ServedVersion[];
  /** apiVersion and schema of what is stored; may be another group's (events). Undefined for virtual resources that store nothing. */
  readonly storage: StorageForm | undefined;
  /** PUT to a name that does not exist creates it. */
  readonly allowCreateOnUpdate: boolean;
  /** PUT without resourceVersion is accepted. */
  readonly allowUnconditionalUpdate: boolean;
  /** A single delete answers with the deleted object rather than a Status. */
  readonly deleteReturnsObject: boolean;
  /** Custom resources keep kind and apiVersion in list items. */
  readonly custom: boolean;
  readonly strategy: Strategy;
  /** Who brings objects from one version to another, where that is somebody else: `conversion` of the versions only renames then. */
  readonly converter?: Converter;
}

export interface StorageForm {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  readonly schema: Struct;
  /** `/registry/configmaps/`: the namespace and the name follow. Two definitions with the same prefix share one cache. */
  readonly prefix: string;
  readonly versionHash: string;
}

/** What a strategy may ask of the world. */
export interface StrategyContext {
  readonly user: UserInfo;
  readonly gates: FeatureGates;
  /** Whether the request was authorized as `patch`, not as `update`. */
  readonly isPatch?: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Tells the client what only comes out while its object is checked. */
  warn(text: string): void;
  /** The present state of another object, from the cache; for checks that cross objects. */
  find(group: string, resource: string, namespace: string, name: string): Promise<KubeObject | undefined>;
  /** Checks another right of the user. @returns the error message when the authorizer denies it */
  findDenial: FindDenial;
}

/** A request for a right on a resource, beyond the one that the client has sent. */
export interface AccessCheck {
  readonly user: UserInfo;
  readonly verb: string;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string;
  /** Empty for all namespaces, and for resources without namespaces. */
  readonly namespace: string;
  readonly name: string;
}

/** @returns why the user may not, in the words of a 403 error; undefined when the user may */
export type FindDenial = (check: AccessCheck) => Promise<string | undefined>;

export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description: string;
  /** 0 is shown always, more than 0 only in wide output. */
  readonly priority: number;
  /** @returns a cell as JSON has it, undefined for null; or a {@link TimedCell} */
  value(object: KubeObject): unknown;
}

/** A cell that depends on when it is looked at. It is kept for a while and must not hold its object. @param now milliseconds since 1970 */
export type TimedCell = (now: number) => string;

/** Tells clients of a table that a row is not worth showing among others, such as a pod that is done. */
export interface RowCondition {
  readonly type: "Completed";
  readonly status: "True";
  readonly reason: string;
  readonly message: string;
}

/** A graceful deletion: how long the object stays with its deletionTimestamp set. */
export interface GracePeriod {
  readonly seconds: number;
}

/** What is special about a kind. `strategy()` fills in the defaults, so nobody asks whether a function is there. */
export interface Strategy {
  /** @param prefix whether the text is a generateName @returns what is wrong, upstream's texts */
  validateName(name: string, prefix: boolean, object: KubeObject): string[];
  /** False where a generateName is taken as it is. */
  readonly generatesNames: boolean;
  /** Writes of the main resource keep status, writes of `/status` keep all else. False where the kind has no such subresource. */
  readonly isolatesStatus: boolean;
  /** Starts at 1 and is raised when anything but metadata and status changes. */
  readonly hasGeneration: boolean;
  /** Whether something else raises it, too. */
  raisesGeneration(next: KubeObject, old: KubeObject): boolean;
  /** Fills in what the kind's defaults are, on the object as decoded at the storage version. @param gates undefined: none is on */
  setDefaults(object: KubeObject, gates?: FeatureGates): void;
  /** What goes beside the fields of gates that are off, before these go. @param old undefined on create */
  dropDisabled(next: KubeObject, old: KubeObject | undefined, context: StrategyContext): void;
  prepareForCreate(object: KubeObject, context: StrategyContext): void;
  prepareForUpdate(next: KubeObject, old: KubeObject, context: StrategyContext): void;
  /** On `/status`, after all but status was put back from `old`. */
  prepareForStatusUpdate(next: KubeObject, old: KubeObject, context: StrategyContext): void;
  validate(object: KubeObject, errors: FieldErrors, context: StrategyContext): void | Promise<void>;
  validateUpdate(
    next: KubeObject,
    old: KubeObject,
    errors: FieldErrors,
    context: StrategyContext,
  ): void | Promise<void>;
  validateStatusUpdate(
    next: KubeObject,
    old: KubeObject,
    errors: FieldErrors,
    context: StrategyContext,
  ): void | Promise<void>;
  /** Metadata of new objects is looked at only where the kind's own rules find nothing wrong. */
  readonly checksMetaLast: boolean;
  /** Updates look at metadata once more before `validateUpdate`; false where that does so itself, in its place. */
  readonly repeatsMetaRules: boolean;
  /** `prepareForCreate` sees the status that was sent: nodes are created with it. All other kinds with `isolatesStatus` start without. */
  readonly keepsStatusOnCreate: boolean;
  /** Writes of subresources that show the whole object and change a part of it (`finalize`, `approval`), besides `status` and `scale`. */
  readonly subresources: Readonly<Record<string, SubresourceRules>>;
  /** Warnings for the client, upstream's texts, of what is written; not of writes of `/status`. */
  warnings(object: KubeObject, old: KubeObject | undefined, context: StrategyContext): string[];
  /** The same of writes of `/status`. */
  statusWarnings(object: KubeObject, old: KubeObject, context: StrategyContext): string[];
  /** Undefined: the object goes at once (unless finalizers hold it). @param seconds what the client asked for */
  gracePeriod(object: KubeObject, seconds: number | undefined): GracePeriod | undefined;
  /** Refuses a deletion that must not be, such as of the default namespace. @throws ApiError */
  checkDeletion(object: KubeObject, context: StrategyContext): void;
  /** The first deletion only says that the object goes; whether one now is such, or waits for a controller (namespaces, definitions). */
  holdsDeletion(object: KubeObject): boolean;
  /** Dependents are orphaned where the deletion does not say what is to become of them; who deletes so is warned of it, if there is a warning. */
  readonly orphansByDefault: { readonly warning: string | undefined } | undefined;
  /** The core resource whose object of the same name goes with one of this kind. */
  readonly companion: string | undefined;
  /** Called on the first deletion of an object that stays, such as to set a phase. */
  markDeleted(object: KubeObject, dependents: DependentsOptions): void;
  /** Seconds an object of this kind lives; undefined for ever. */
  readonly ttlSeconds: number | undefined;
  /** Upstream reads the kind from etcd, without a watch cache (events): a limit holds for any resourceVersion, and some errors differ. */
  readonly uncached: boolean;
  /** Field selector keys besides metadata.name and metadata.namespace, read from the storage version. */
  readonly selectableFields: Readonly<Record<string, (object: KubeObject) => string>>;
  /** Those of them that many clients select by one value each: lists and watches by them look at what they want alone. */
  readonly indexedFields: readonly string[];
  /** Undefined: the two default columns. */
  readonly columns: readonly Column[] | undefined;
  /** Of the object's row in tables. */
  rowConditions(object: KubeObject): readonly RowCondition[];
  /** The `scale` subresource; undefined where there is none. */
  readonly scale: ScaleMapping | undefined;
  /** How the declarative rules of the kind's types are used; undefined where they are not. */
  readonly declarative: DeclarativeValidation | undefined;
}

/** Source: KEP-5073; `ValidationConfig` of k8s.io/apiserver@v0.36.0/pkg/registry/rest/validate.go. */
export interface DeclarativeValidation {
  /** Rules that are not alpha replace the hand-written validation that covers the same. */
  readonly enforced?: boolean;
  /** Subresources whose writes are validated, too. */
  readonly subresources?: readonly string[];
  /** Brings paths of other versions to those of the storage version, where the first that matches counts. */
  readonly normalizations?: readonly (readonly [
    pattern: RegExp,
    replacement: string | ((path: string, ...groups: string[]) => string),
  ])[];
  /** Where one of these fields has an unknown value, hand-written validation goes no deeper into the struct that it is in. */
  readonly discriminators?: readonly string[];
  /** Names of objects are covered by a rule of this origin. */
  readonly nameOrigin?: string;
  /** What `+k8s:ifEnabled` and `+k8s:ifDisabled` ask for. @param old undefined on create */
  hasOption?(name: string, gates: FeatureGates, old: KubeObject | undefined): boolean;
}

/** What a deletion says about the object's dependents. */
export interface DependentsOptions {
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
}

/** What a write of one subresource may change. */
export interface SubresourceRules {
  /** Puts back from `old` what this subresource must not change. */
  prepare(next: KubeObject, old: KubeObject, context: StrategyContext): void;
  validate(next: KubeObject, old: KubeObject, errors: FieldErrors, context: StrategyContext): void | Promise<void>;
}

export interface ScaleMapping {
  /** An autoscaling/v1 Scale of the object. */
  toScale(object: KubeObject): KubeObject;
  /** Puts the wanted replicas into the object. */
  applyScale(object: KubeObject, replicas: number): void;
  /** Where they are, and need not be; undefined: `spec.replicas`, which is always there. */
  readonly replicasPath?: readonly string[];
}

/** A definition made ready once, on install: what depends on the definition alone. */
export interface Resource {
  readonly definition: ResourceDefinition;
  /** Undefined for virtual resources. */
  readonly store: ResourceStore | undefined;
}

export interface ResourceStore {
  readonly form: StorageForm;
  readonly fingerprint: number;
  /** What entries are made with. */
  readonly source: EntrySource;
  readonly cache: WatchCache;
  /** Where writers of one key line up after they lost to another. */
  readonly turns: Turns;
  readonly gates: FeatureGates | undefined;
  /** `/registry/configmaps/default/a` */
  keyOf(namespace: string, name: string): string;
  /** A fresh object of the storage version, the caller's to change; metadata.resourceVersion is set. */
  decode(entry: Entry): KubeObject;
}

/** Which versions and resources are switched on. */
export interface RuntimeConfig {
  serves(group: string, version: string, resource: string): boolean;
}

/** What a path names. */
export interface Resolved {
  /** Its strategy is that of the version. */
  readonly resource: Resource;
  readonly version: ServedVersion;
  /** Where somebody else converts what is stored at other versions. */
  readonly converted?: ConvertedVersion;
}

/** Objects at a version that a {@link Converter} makes of those that are stored. What it throws is an ApiError, 500 in upstream's words. */
export interface ConvertedVersion {
  /** The same resource, as if this version were the one that is stored: what answers with shown entries are made with. */
  readonly shown: Resolved;
  /** The entries as this version has them, in their order; those that are at it are returned themselves. */
  show(entries: readonly Entry[], options?: ShowOptions): readonly Entry[] | Promise<readonly Entry[]>;
  /** The same of one; what was made of it before is not good enough, and stays what others are shown. */
  showReconverted(entry: Entry): Promise<Entry>;
  /** What a client of this version sees, named as if it were of the storage version; the caller's. @param options `reconvert`: as `showReconverted` */
  present(entry: Entry, options?: { readonly reconvert?: boolean }): Promise<KubeObject>;
  /** What is stored of an object that was written at this version. @param object named as of the storage version; the outcome may share parts with it */
  stored(object: KubeObject): Promise<KubeObject>;
  /**
   * Converts an object from what is known to the storage version, and to this version anew. Upstream's store does so before a write that works on
   * what is known fails or removes the object, so that the converter's error comes first.
   */
  recheck(entry: Entry): Promise<void>;
}

export interface ShowOptions {
  /** They are a list, to whoever is told that they could not be converted. */
  readonly list?: boolean;
}

export interface Catalog {
  /** Served or not. */
  find(group: string, version: string, resource: string): Resolved | undefined;
  /** Undefined for a version that `--runtime-config` switches off: nothing in this process may write there either. */
  findServed(group: string, version: string, resource: string): Resolved | undefined;
  /** Any served version. */
  findResource(group: string, resource: string): Resource | undefined;
  findKind(group: string, version: string, kind: string): Resolved | undefined;
  /** Groups in discovery order, resources by name; every definition, served or not. */
  definitions(): readonly ResourceDefinition[];
  /** Raised by every change of the definitions, so that documents made from them can be cached. */
  readonly generation: number;
}

/** A catalogue whose definitions may change (custom resources). Each change raises `generation`. */
export interface MutableCatalog extends Catalog {
  /** Adds a definition, or replaces the one of the same group and resource. @returns what was installed before, for the caller to close */
  add(definition: ResourceDefinition): Resource | undefined;
  /** @returns what was installed, for the caller to close */
  remove(group: string, resource: string): Resource | undefined;
}
