/**
 * The generic verbs for all resources, as endpoints and controllers call them.
 * Source: k8s.io/apiserver@v0.36.0/pkg/registry/rest/rest.go.
 */

import type { Clock } from "../apimachinery/clock.ts";
import type { StatusCause } from "../apimachinery/errors.ts";
import type { VersionedGates } from "../apimachinery/feature-gates.ts";
import type { GroupResource, KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { Catalog, Resolved, Resource } from "../catalog/contract.ts";
import type { FindDenial } from "../catalog/strategy-contract.ts";
import type { Pause } from "../lib/pauses.ts";
import type { AdmissionTrace } from "../request/admission-trace.ts";
import type { RecordOwnWrite, RequestAudit } from "../request/audit.ts";
import type { RequestLifetime } from "../request/lifetime.ts";
import type { StageObserver } from "../request/stages.ts";
import type { Check, Storage, Stored } from "../storage/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";
import type { AdmissionAttributes } from "./admission-attributes.ts";

/** What happens to unknown and repeated fields of a body: nothing, a warning, or an error. */
export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** The fields of every write. */
export interface WriteRequest {
  readonly target: Resolved;
  readonly namespace: string;
  /**
   * The name in the path. On create it is empty, or the name for admission: the object is stored
   * under its own name.
   */
  readonly name: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly userAgent: string;
  /**
   * Returns the options of the request for admission, without kind and apiVersion; absent for
   * writes of the server itself, which have none.
   */
  readonly operationOptions?: () => Readonly<Record<string, unknown>>;
  /** The limits of the request; absent for writes of the server itself. */
  readonly lifetime?: RequestLifetime | undefined;
  /** Receives what admission plugins do. */
  readonly trace?: AdmissionTrace | undefined;
  /** Strategy warnings are added here. */
  readonly warnings: string[];
  /**
   * The audit record of the request that the write belongs to; undefined where nothing is recorded.
   */
  readonly audit?: RequestAudit | undefined;
  /** Called between the steps of a write, which take long for a large object; undefined for a small one. */
  readonly pause?: Pause | undefined;
}

/** Values that the object must have to be deleted. */
export interface DeletePreconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

/** The options of a deletion, checked. */
export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: DeletePreconditions;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  /** Removes an object that cannot be read: ignoreStoreReadErrorWithClusterBreakingPotential. */
  readonly ignoreReadError?: boolean;
  readonly dryRun: boolean;
}

/**
 * The outcome of a write: `entry` when it was stored; `object` (at the storage version, owned by
 * the caller) for a dry run, and for an update that removed the last finalizer of a deleted object
 * and so the object.
 */
export type Written =
  | { readonly entry: Entry; readonly created: boolean }
  | { readonly object: KubeObject; readonly created: boolean };

/**
 * The outcome of a deletion. `gone`: removed; `entry` is the last state, at the revision of the
 * removal. `pending`: the object waits for finalizers, its grace period or a controller. `dryRun`:
 * nothing was changed.
 */
export type Deleted =
  | { readonly kind: "gone"; readonly entry: Entry; readonly uid: string }
  | { readonly kind: "pending"; readonly entry: Entry }
  | {
      readonly kind: "dryRun";
      /** Undefined when the deletion would remove the last finalizers: upstream answers with an object without fields then. */
      readonly object: KubeObject | undefined;
      readonly pending: boolean;
    };

/** A virtual resource whose creation answers a question; nothing is stored. */
export interface Review {
  /**
   * Validates the sent object before validating admission.
   * @throws ApiError 400, 422
   */
  check(sent: KubeObject, namespace: string): void;
  /** @param sent may be changed and returned */
  answer(sent: KubeObject, user: UserInfo): KubeObject | Promise<KubeObject>;
}

/**
 * Objects of a resource that are computed for each request. They have neither labels nor a
 * resourceVersion.
 */
export interface ComputedObjects {
  /** The resource that the error for a missing object names. */
  readonly missing: GroupResource;
  list(): Promise<readonly KubeObject[]>;
  get(name: string): Promise<KubeObject | undefined>;
}

/** Receives what validations of objects find besides their errors. */
export interface ValidationObserver {
  /**
   * @param identifier kind, subresource and operation, such as `resourceclaim_status_update`
   * @param mismatches of one object, one at least; a client may cause a thousand
   */
  mismatched(identifier: string, mismatches: readonly ValidationMismatch[]): void;
  /** The declarative validation threw. */
  panic(identifier: string, error: unknown): void;
  /** An update was rejected. @param causes at most a thousand */
  rejectedUpdate(causes: readonly StatusCause[]): void;
}

/** An error that only one of the two validations reports. */
export interface ValidationMismatch {
  readonly field: string;
  /** Of the error, such as `FieldValueInvalid`. */
  readonly reason: string;
  readonly origin: string;
  /** Messages at the field. */
  readonly handWritten: readonly string[];
  readonly declarative: readonly string[];
}

/**
 * Permits writes while a condition of another key holds, such as a lease. The condition is part of
 * each commit, so a writer that has lost it unnoticed cannot write.
 */
export interface WriteFence {
  /**
   * The condition of the next commit.
   * @throws ApiError 503 when writes are not permitted any more
   */
  check(): Check;
  /**
   * Called when the key of the condition has changed; the write is repeated with the next condition.
   * @param current the state of the key; undefined when it is absent
   * @throws ApiError 503 when writes are not permitted any more
   */
  changed(current: Stored | undefined): void;
}

/** The media types of `--storage-media-type`. */
export type StorageMediaType = "application/json" | "application/vnd.kubernetes.protobuf" | "application/yaml";

/** How objects are encoded for a store that is shared with kube-apiserver. */
export interface SharedEncoding {
  /** Of built-in objects. */
  readonly mediaType: StorageMediaType;
  /** Whether custom resources are CBOR, not JSON: the gate `CBORServingAndStorage`. */
  readonly customCbor: boolean;
}

/** A change of one object that was committed. */
export interface ObjectChange {
  readonly key: string;
  readonly revision: number;
  /** The object that was replaced or removed; undefined for a new one, and for a removal of an absent one. */
  readonly before: Pick<Entry, "json"> | undefined;
  /** JSON in the storage version, without resourceVersion; undefined for a removed object. */
  readonly after: Buffer | undefined;
}

/** A decision on the state of the store, which the restores of the test kit replace. */
export interface Decision {
  /** Whether the state on which it is made has not been replaced. */
  isCurrent(): boolean;
  /**
   * Called in the turn of each commit.
   * @throws ApiError 409 unless it is current
   */
  check(): void;
}

/**
 * The checks and changes around a write, which admission plugins implement.
 */
export interface Admission {
  /** @throws ApiError of the first plugin that rejects the write */
  mutate(attributes: AdmissionAttributes): Promise<void>;
  /** @throws ApiError as `mutate` */
  authorize(attributes: AdmissionAttributes): Promise<void>;
  /** @throws ApiError as `mutate` */
  validate(attributes: AdmissionAttributes): Promise<void>;
  /** Calls `removed` of all plugins; a plugin handles its own errors. */
  removed(resource: Resource, object: () => KubeObject, registry: RegistryContext): Promise<void>;
}

/** The dependencies of the verbs; one per server. */
export interface RegistryContext {
  readonly storage: Storage;
  /** Limits all writes; undefined: none. */
  readonly fence?: WriteFence;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly gates: VersionedGates;
  /** Whether no pod can have privileged containers. */
  readonly forbidsPrivileged?: boolean;
  /** Whether dependents stay when their owner is deleted, so that deletions get no finalizers for them. */
  readonly keepsDependents?: boolean;
  readonly admission: Admission;
  /** Is notified of repeated errors, and where declarative and hand-written validation differ. */
  readonly validation: ValidationObserver;
  /** Checks rights that strategies require beyond that of the request. */
  readonly findDenial: FindDenial;
  /** Undefined for a store that this server alone uses: writes have no second form then. */
  readonly sharedEncoding?: SharedEncoding;
  /** What all commits with this registry were decided on; undefined: nothing replaces the state. */
  readonly decision?: Decision;
  /** Called when a controller begins to reconcile; undefined: nothing replaces the state. */
  readonly decide?: () => Decision;
  /** Called for each committed change of an object, for the timeline of the test kit. Must not throw. */
  readonly changed?: (change: ObjectChange) => void;
  /** Audits the writes of controllers; undefined: they are not audited. */
  readonly recordOwn?: RecordOwnWrite | undefined;
  /** Called at each stage of a request, see request/stages.ts; undefined in most servers. */
  readonly entered?: StageObserver | undefined;
  /** Random bytes, for uids, suffixes of names and choices. */
  random(bytes: number): Buffer;
}
