/** Writes of the controller of ServiceCIDRs. */

import { formatTime } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { serviceCidrFinalizer } from "../../apimachinery/service-addresses.ts";
import type { Resolved } from "../../catalog/contract.ts";
import type { RegistryContext, WriteRequest } from "../../registry/contract.ts";
import { apply, update } from "../audited-writes.ts";
import { writesAs } from "../controller-write.ts";

/** The ServiceCIDR to write. */
export interface CidrWrite {
  readonly registry: RegistryContext;
  readonly target: Resolved;
  /** The current state. */
  readonly cidr: KubeObject;
}

/** The condition Ready. */
interface ReadyCondition {
  readonly status: "True" | "False";
  readonly reason: string;
  readonly message: string;
}

const requestOf = ({ target, cidr }: CidrWrite, subresource = ""): WriteRequest =>
  writesAs("service-cidrs-controller").of(target, "", cidr.metadata.name as string, subresource);

/**
 * Adds or removes the finalizer. A ServiceCIDR that does not exist any more needs none.
 * @throws ApiError
 */
export async function setFinalizer(write: CidrWrite, isPresent: boolean): Promise<void> {
  const has = ({ metadata }: KubeObject): boolean => metadata.finalizers?.includes(serviceCidrFinalizer) === true;
  if (has(write.cidr) === isPresent) return;
  const next = (current: (() => KubeObject) | undefined): KubeObject => {
    const object = current?.() as KubeObject;
    const others = (object.metadata.finalizers ?? []).filter((one) => one !== serviceCidrFinalizer);
    object.metadata.finalizers = isPresent ? [...others, serviceCidrFinalizer] : others;
    return object;
  };
  try {
    await update(write.registry, { ...requestOf(write), isPatch: true, createsMissing: false, next });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.reason !== "NotFound") throw error;
  }
}

/**
 * Applies the condition unless it is the current one.
 * @throws ApiError
 */
export async function applyReady(write: CidrWrite, fieldManager: string, condition: ReadyCondition): Promise<void> {
  const { registry, cidr } = write;
  const current = ((cidr.status?.conditions ?? []) as (ReadyCondition & { type: string })[]).find(
    ({ type }) => type === "Ready",
  );
  const { status, reason, message } = condition;
  if (current?.status === status && current.reason === reason && current.message === message) return;
  const ready = { type: "Ready", ...condition, lastTransitionTime: formatTime(registry.clock.now()) };
  const intent = {
    apiVersion: "networking.k8s.io/v1",
    kind: "ServiceCIDR",
    metadata: { name: cidr.metadata.name },
    status: { conditions: [ready] },
  };
  const body = Buffer.from(JSON.stringify(intent));
  const request = { ...requestOf(write, "status"), fieldManager, force: true, fieldValidation: "Ignore" } as const;
  await apply(registry, { ...request, body });
}
