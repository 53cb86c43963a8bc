/**
 * Writes the condition `Available`. Source: `updateAPIServiceStatus` and `SetAPIServiceCondition` in
 * k8s.io/kube-aggregator@v0.36.0.
 */

import { formatTime } from "../../apimachinery/clock.ts";
import type { ApiServiceView } from "../../forwarding/aggregator/contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { serverWrite } from "../../registry/server-write.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import { update } from "../audited-writes.ts";
import { type ApiServiceTarget, readApiService } from "./api-service-store.ts";
import type { Availability } from "./check-availability.ts";

/** Receives changes of the availability, for metrics. */
export interface AvailabilityObserver {
  /** An available APIService has become unavailable. */
  unavailable(name: string, reason: string): void;
}

interface WriteOptions {
  readonly registry: RegistryContext;
  readonly observer: AvailabilityObserver;
}

/**
 * Writes the condition if it has changed.
 *
 * @returns false when the APIService has changed since it was checked
 */
export async function writeAvailability(
  { registry, observer }: WriteOptions,
  target: ApiServiceTarget,
  { name, resourceVersion, isAvailable }: ApiServiceView,
  availability: Availability,
): Promise<boolean> {
  const current = await readApiService(target, name);
  if (current === undefined || current.metadata.resourceVersion !== resourceVersion) return current === undefined;
  const conditions = nextConditions(current.status?.conditions ?? [], availability, registry.clock.now());
  if (conditions === undefined) return true;
  return unlessConflict(async () => {
    await update(registry, {
      ...serverWrite({ target: target.target, name, subresource: "status" }),
      next() {
        const object = structuredClone(current);
        return { ...object, status: { ...object.status, conditions } };
      },
    });
    if (isAvailable && availability.status !== "True") observer.unavailable(name, availability.reason);
  });
}

interface Condition extends Partial<Availability> {
  readonly type: string;
  readonly lastTransitionTime?: string;
}

/** @returns undefined when nothing changes */
function nextConditions(
  conditions: readonly Condition[],
  availability: Availability,
  now: number,
): Condition[] | undefined {
  const index = conditions.findIndex(({ type }) => type === "Available");
  const old = conditions[index];
  const lastTransitionTime =
    old?.status === availability.status && old.lastTransitionTime !== undefined
      ? old.lastTransitionTime
      : formatTime(now);
  const next: Condition = { ...old, type: "Available", ...availability, lastTransitionTime };
  if (old === undefined) return [...conditions, next];
  return deepEqual(old, next) ? undefined : conditions.with(index, next);
}
