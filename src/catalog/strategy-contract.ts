/**
 * The contract of strategies: the code of a kind. Source: `RESTCreateStrategy` and its siblings in
 * k8s.io/apiserver@v0.36.0/pkg/registry/rest.
 */
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { FieldErrors } from "../apimachinery/field-errors.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";

/** The request and the environment in which a strategy runs. */
export interface StrategyContext {
  readonly user: UserInfo;
  readonly gates: FeatureGates;
  /** Whether no pod can have privileged containers. */
  readonly forbidsPrivileged?: boolean | undefined;
  /** Whether the request was authorized as `patch`, not as `update`. */
  readonly isPatch?: boolean;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Adds a warning that is found only during validation to the response. */
  warn(text: string): void;
  /**
   * The current state of another object, from the watch cache; for rules that concern several
   * objects.
   */
  find(group: string, resource: string, namespace: string, name: string): Promise<KubeObject | undefined>;
  /**
   * Checks another permission of the user.
   *
   * @returns the error message if the authorizer denies it
   */
  findDenial: FindDenial;
}

/** An authorization check in addition to the one of the request itself. */
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

/** Authorizes a check. @returns the message of the 403 error; undefined if the user is allowed */
export type FindDenial = (check: AccessCheck) => Promise<string | undefined>;

/** A column of tables. */
export interface Column {
  readonly name: string;
  readonly type: "string" | "integer" | "number" | "boolean" | "date";
  readonly format?: string;
  readonly description: string;
  /** 0 for columns that are always shown; columns with a higher number are shown in wide output. */
  readonly priority: number;
  /** @returns a JSON value, undefined for null; or a {@link TimedCell} */
  value(object: KubeObject): unknown;
}

/**
 * A cell that depends on the time of the request. Cells are cached and must not keep a reference to
 * the object.
 *
 * @param now milliseconds since 1970
 */
export type TimedCell = (now: number) => string;

/** A condition of a table row that lets clients hide it, such as that of a completed pod. */
export interface RowCondition {
  readonly type: "Completed";
  readonly status: "True";
  readonly reason: string;
  readonly message: string;
}

/** The grace period of a deletion, during which the object has a deletionTimestamp. */
export interface GracePeriod {
  readonly seconds: number;
}

/** What objects of a kind contain: names, defaults, preparation and validation. */
interface Shape {
  /**
   * Validates a name.
   *
   * @param prefix whether the text is a generateName
   * @returns upstream's messages
   */
  validateName(name: string, prefix: boolean, object: KubeObject): string[];
  /** False if a generateName is used without a random suffix. */
  readonly generatesNames: boolean;
  /**
   * metadata.generation starts at 1 and is incremented when anything except metadata and status
   * changes.
   */
  readonly hasGeneration: boolean;
  /** Whether fields that are dropped, such as those of gates that are off, count as changes for the generation. */
  readonly countsDroppedFields: boolean;
  /** Whether another change increments metadata.generation. */
  raisesGeneration(next: KubeObject, old: KubeObject): boolean;
  /**
   * Sets defaults on an object at the storage version.
   *
   * @param gates undefined if no gate is enabled
   * @param now milliseconds since 1970; undefined for objects that are not from a request, which
   *   have all times
   */
  setDefaults(object: KubeObject, gates?: FeatureGates, now?: number): void;
  /**
   * Sets the defaults that depend on what admission plugins or this strategy change. Runs last,
   * because upstream sets defaults again when it decodes what it has stored.
   */
  setStoredDefaults(object: KubeObject): void;
  /**
   * Removes what depends on fields of disabled gates, before those fields are removed.
   *
   * @param old undefined on create
   */
  dropDisabled(next: KubeObject, old: KubeObject | undefined, context: StrategyContext): void;
  /** Whether updates of the status remove fields of disabled gates. */
  readonly dropsDisabledStatus: boolean;
  prepareForCreate(object: KubeObject, context: StrategyContext): void;
  prepareForUpdate(next: KubeObject, old: KubeObject, context: StrategyContext): void;
  validate(object: KubeObject, errors: FieldErrors, context: StrategyContext): void | Promise<void>;
  validateUpdate(
    next: KubeObject,
    old: KubeObject,
    errors: FieldErrors,
    context: StrategyContext,
  ): void | Promise<void>;
  /** Metadata of new objects is validated only if the rules of the kind find no error. */
  readonly checksMetaLast: boolean;
  /**
   * Updates validate metadata again before `validateUpdate`; false if `validateUpdate` does that
   * itself.
   */
  readonly repeatsMetaRules: boolean;
  /** How declarative validation is used; undefined if it is not. */
  readonly declarative: DeclarativeValidation | undefined;
}

/** What is written apart from the rest of an object: its status and other subresources. */
interface Parts {
  /**
   * Writes of the main resource keep status; writes of `/status` keep everything else. False for
   * kinds without that subresource.
   */
  readonly isolatesStatus: boolean;
  /**
   * Objects can be created with a status, as nodes are. Other kinds with `isolatesStatus` are
   * created without.
   */
  readonly keepsStatusOnCreate: boolean;
  /**
   * Subresources besides `status` and `scale` that return the whole object and update a part of it
   * (`finalize`, `approval`).
   */
  readonly subresources: Readonly<Record<string, SubresourceRules>>;
  /** The `scale` subresource; undefined if there is none. */
  readonly scale: ScaleMapping | undefined;
  /** Runs on writes of `/status`, after everything except status was restored from `old`. */
  prepareForStatusUpdate(next: KubeObject, old: KubeObject, context: StrategyContext): void;
  validateStatusUpdate(
    next: KubeObject,
    old: KubeObject,
    errors: FieldErrors,
    context: StrategyContext,
  ): void | Promise<void>;
}

/** How objects end. */
interface Life {
  /**
   * The grace period of a deletion; undefined for none, so that only finalizers delay it.
   *
   * @param seconds the requested grace period
   */
  gracePeriod(object: KubeObject, seconds: number | undefined): GracePeriod | undefined;
  /** Rejects deletions that are forbidden, such as of the default namespace. @throws ApiError */
  checkDeletion(object: KubeObject, context: StrategyContext): void;
  /**
   * Whether a deletion now only marks the object, because a controller completes it (namespaces,
   * definitions).
   */
  holdsDeletion(object: KubeObject): boolean;
  /**
   * Set if dependents are orphaned when the deletion does not specify a policy; `warning` is then
   * returned to the client.
   */
  readonly orphansByDefault: { readonly warning: string | undefined } | undefined;
  /**
   * A core resource whose object of the same name is deleted together with an object of this kind.
   */
  readonly companion: string | undefined;
  /** Called when an object is first marked as deleted, for example to set a phase. */
  markDeleted(object: KubeObject, dependents: DependentsOptions): void;
  /** Lifetime of objects in seconds; undefined if they do not expire. */
  readonly ttlSeconds: number | undefined;
}

/** How clients find and see objects. */
interface Presentation {
  /** Warnings about a written object, with upstream's texts; not for writes of `/status`. */
  warnings(object: KubeObject, old: KubeObject | undefined, context: StrategyContext): string[];
  /** Warnings about writes of `/status`. */
  statusWarnings(object: KubeObject, old: KubeObject, context: StrategyContext): string[];
  /** Upstream has no watch cache for the kind (events), unless `watchCacheSizes` gives it one. */
  readonly uncached: boolean;
  /**
   * A new object of which nothing is set, at the storage version. Some fields of upstream's internal types are never
   * unset there, such as replicas.
   */
  blank(): KubeObject;
  /**
   * Field selector keys in addition to metadata.name and metadata.namespace, read from the storage
   * version.
   */
  readonly selectableFields: Readonly<Record<string, (object: KubeObject) => string>>;
  /**
   * Indexed field selector keys: lists and watches by one value visit only the matching objects.
   */
  readonly indexedFields: readonly string[];
  /**
   * An annotation that upstream keeps as a field of its internal type: it is not in Tables and not
   * in metadata alone, and does not count for the size of annotations.
   */
  readonly fieldAnnotation: string | undefined;
  /** Undefined for the default columns. */
  readonly columns: readonly Column[] | undefined;
  /** What the columns and conditions of rows read, as paths of `pathTree`; not used for custom resources. */
  readonly cellPaths: readonly string[];
  /** The conditions of the object's row in tables. */
  rowConditions(object: KubeObject): readonly RowCondition[];
}

/** The behavior of a kind. `strategy()` adds the defaults, so that every member is defined. */
export interface Strategy extends Shape, Parts, Life, Presentation {}

/**
 * Declarative validation of a kind. Source: KEP-5073; `ValidationConfig` in
 * `k8s.io/apiserver@v0.36.0/pkg/registry/rest/validate.go`.
 */
export interface DeclarativeValidation {
  /** Declarative rules that are not alpha replace the equivalent hand-written validation. */
  readonly enforced?: boolean;
  /** Subresources whose writes are also validated. */
  readonly subresources?: readonly string[];
  /**
   * Convert field paths of other versions to those of the storage version; the first match is used.
   */
  readonly normalizations?: readonly (readonly [
    pattern: RegExp,
    replacement: string | ((path: string, ...groups: string[]) => string),
  ])[];
  /**
   * If one of these fields has an unknown value, hand-written validation skips the rest of its
   * struct.
   */
  readonly discriminators?: readonly string[];
  /** The origin of the declarative rule for object names. */
  readonly nameOrigin?: string;
  /** Evaluates `+k8s:ifEnabled` and `+k8s:ifDisabled`. @param old undefined on create */
  hasOption?(name: string, gates: FeatureGates, old: KubeObject | undefined): boolean;
}

/** The options of a deletion that concern the dependents of the object. */
export interface DependentsOptions {
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
}

/** The rules for updates of a subresource. */
export interface SubresourceRules {
  /** Restores from `old` what this subresource must not change. */
  prepare(next: KubeObject, old: KubeObject, context: StrategyContext): void;
  validate(next: KubeObject, old: KubeObject, errors: FieldErrors, context: StrategyContext): void | Promise<void>;
}

/** Maps an object to the Scale of its `scale` subresource. */
export interface ScaleMapping {
  /** Creates the autoscaling/v1 Scale of the object. */
  toScale(object: KubeObject): KubeObject;
  /** Sets the desired replicas of the object. */
  applyScale(object: KubeObject, replicas: number): void;
  /** The path of an optional replicas field; undefined for `spec.replicas`, which is always set. */
  readonly replicasPath?: readonly string[];
}
