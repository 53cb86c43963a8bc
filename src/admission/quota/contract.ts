/** How objects use the resources that quotas limit. */
import type { KubeObject } from "../../apimachinery/object.ts";
import type { Quantity } from "../../lib/quantity/quantity.ts";

/** Amounts by the name of the resource, such as `requests.cpu` or `count/configmaps`. */
export type Amounts = ReadonlyMap<string, Quantity>;

/** A scope that objects must be in, with upstream's operators. */
export interface ScopeRequirement {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

/** The write of an object, as evaluators see it. */
export interface QuotaWrite {
  readonly operation: "CREATE" | "UPDATE";
  readonly subresource: string;
  readonly object: KubeObject;
  readonly oldObject: KubeObject | undefined;
}

/**
 * Measures the objects of one resource. Source: `Evaluator` in
 * k8s.io/apiserver@v0.36.0/pkg/quota/v1/interfaces.go.
 */
export interface Evaluator {
  /** Whether the write can change what the object uses. */
  handles(write: QuotaWrite): boolean;
  /** Whether objects of the resource use the resource with the name. */
  matches(name: string): boolean;
  /** Whether the object is in the scope; absent where objects are in no scope. @throws SelectorError */
  isInScope?(scope: ScopeRequirement, object: KubeObject): boolean;
  /**
   * Returns what the object must specify if quotas limit these resources; undefined when it does.
   * Absent where nothing is required.
   */
  findMissing?(limited: readonly string[], object: KubeObject): string | undefined;
  /** Returns what the object uses. */
  usageOf(object: KubeObject): Amounts;
  /** Set if every object uses one of each of these resources and nothing else. */
  readonly countsAs?: readonly string[];
}

/** The evaluators of all resources. */
export interface Evaluators {
  /** @returns undefined for resources that quotas ignore */
  of(group: string, resource: string): Evaluator | undefined;
}

/** What a ResourceClaim uses depends on device classes, and on the pod for which it was created. */
export interface ClaimRelations {
  /** Returns the extended resource of a device class; undefined when it has none. */
  extendedResourceOf(deviceClass: string): string | undefined;
  /** Whether a device class provides the extended resource. */
  hasClassFor(extendedResource: string): boolean;
  /** Returns the pod for whose extended resources the claim was created, if both refer to each other. */
  podOf(claim: KubeObject): KubeObject | undefined;
}
