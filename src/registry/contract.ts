/** The generic verbs over any resource: what endpoints and controllers call. */
import type { Admission } from "../admission/contract.ts";
import type { Clock } from "../apimachinery/clock.ts";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import type { GroupResource, KubeObject } from "../apimachinery/object.ts";
import type { UserInfo } from "../apimachinery/user.ts";
import type { RequestAudit } from "../audit/contract.ts";
import type { Catalog, FindDenial, Resolved } from "../catalog/contract.ts";
import type { Storage } from "../storage/contract.ts";
import type { Entry } from "../watch-cache/contract.ts";

export type FieldValidation = "Ignore" | "Warn" | "Strict";

/** What every write carries. */
export interface WriteRequest {
  readonly target: Resolved;
  readonly namespace: string;
  /** As the path has it. On create it is empty, or the name for admission: the object is stored under its own name. */
  readonly name: string;
  /** Empty for the main resource. */
  readonly subresource: string;
  readonly user: UserInfo;
  readonly dryRun: boolean;
  readonly fieldManager: string;
  readonly userAgent: string;
  /** Strategy warnings are added here. */
  readonly warnings: string[];
  /** What is recorded of the request the write belongs to; undefined where nothing is. */
  readonly audit?: RequestAudit | undefined;
}

export interface DeletePreconditions {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly preconditions?: DeletePreconditions;
  readonly orphanDependents?: boolean;
  readonly propagationPolicy?: string;
  /** The object is to be removed because it cannot be read: ignoreStoreReadErrorWithClusterBreakingPotential. */
  readonly ignoreReadError?: boolean;
  readonly dryRun: boolean;
}

/**
 * The outcome of a write: exactly one of both; `entry` when it was stored, `object` (storage version, the caller's) for a dry run and for an
 * update that took the last finalizer of a deleted object and so removed it.
 */
export type Written =
  | { readonly entry: Entry; readonly created: boolean }
  | { readonly object: KubeObject; readonly created: boolean };

export type Deleted =
  | { readonly kind: "gone"; readonly entry: Entry; readonly uid: string } // Removed from the store; the last state, at the deletion's revision.
  | { readonly kind: "pending"; readonly entry: Entry } // Waits for finalizers, its grace period or a controller.
  | { readonly kind: "dryRun"; readonly object: KubeObject; readonly pending: boolean };

/** A question that is asked by creating an object, which is stored nowhere. */
export interface Review {
  /** What is wrong with the question, before admission sees it for the last time. @throws ApiError 400, 422 */
  check(sent: KubeObject, namespace: string): void;
  /** @param sent may be changed and returned */
  answer(sent: KubeObject, user: UserInfo): KubeObject | Promise<KubeObject>;
}

/** Objects of a resource that are made for each request. They have neither labels nor a resourceVersion. */
export interface ComputedObjects {
  /** The name of the resource in the error about an object that does not exist. */
  readonly missing: GroupResource;
  list(): Promise<readonly KubeObject[]>;
  get(name: string): Promise<KubeObject | undefined>;
}

export interface ValidationObserver {
  /**
   * @param identifier kind, subresource and operation, such as `resourceclaim_status_update`
   * @param mismatches of one object, one at least; a client may cause a thousand
   */
  mismatched(identifier: string, mismatches: readonly ValidationMismatch[]): void;
  /** The declarative validation threw. */
  panic(identifier: string, error: unknown): void;
}

/** An error that only one of both validations reports. */
export interface ValidationMismatch {
  readonly field: string;
  /** Of the error: `FieldValueInvalid`. */
  readonly reason: string;
  readonly origin: string;
  /** Messages at the field. */
  readonly handWritten: readonly string[];
  readonly declarative: readonly string[];
}

/** What the verbs need of the world; one per server. */
export interface RegistryContext {
  readonly storage: Storage;
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly gates: FeatureGates;
  readonly admission: Admission;
  /** Is notified when declarative and hand-written validation differ. */
  readonly validation: ValidationObserver;
  /** Checks rights that strategies require beyond that of the request. */
  readonly findDenial: FindDenial;
  /** Random bytes, for uids and name suffixes; an option so that tests can replay. */
  random(bytes: number): Buffer;
}
