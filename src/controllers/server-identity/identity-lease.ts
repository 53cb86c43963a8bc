/**
 * The Lease by which other servers and users know that this server runs. Sources:
 * `k8s.io/component-helpers@v0.36.0/apimachinery/lease/controller.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/apiserver/server.go`.
 */

import { formatMicroTime } from "../../apimachinery/clock.ts";
import { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { randomFraction, randomUuid } from "../../apimachinery/random.ts";
import { identityLabel, identityNamespace, serverIdentity } from "../../apimachinery/server-identity.ts";
import { within } from "../../apimachinery/within.ts";
import type { Resolved } from "../../catalog/contract.ts";
import { deleteOne, update } from "../audited-writes.ts";
import type { ControllerOptions } from "../contract.ts";
import { serverWrites } from "../controller-write.ts";

interface IdentityLeaseOptions extends ControllerOptions {
  readonly hostname: string;
  /** Whether other servers can have the same store open, and remove the Lease when it is not renewed. */
  readonly isShared: boolean;
  /** How often the Lease is renewed, in milliseconds; a little less often, so that servers do not write together. */
  readonly renewMs: number;
  /** Address and port by which other servers reach this one; undefined: the Lease does not name them. */
  readonly peerAddress: string | undefined;
  /** Further annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
}

interface IdentityLease {
  /** Replaces the Lease of an earlier process by that of this one. */
  start(): Promise<void>;
  /** Deletes the Lease. Does not reject. */
  stop(): Promise<void>;
}

const durationSeconds = 3600;
/** Renewals are this part of the interval later, at most. */
const jitter = 0.04;
const stopTimeoutMs = 10_000;

/** @returns undefined when Leases are not served */
export function identityLease(options: IdentityLeaseOptions): IdentityLease | undefined {
  const { registry, logger, isShared, renewMs } = options;
  const target = registry.catalog.findServed("coordination.k8s.io", "v1", "leases");
  if (target === undefined) return undefined;
  const name = serverIdentity(options.hostname);
  const holder = `${name}_${randomUuid(registry.random)}`;
  let isStopped = false;
  let running: Promise<void> = Promise.resolve();
  let cancel = (): void => {};
  const failed =
    (what: string) =>
    (error: unknown): void =>
      logger.error(what, { lease: `${identityNamespace}/${name}`, error: String(error) });
  const sync = async (): Promise<void> => {
    if (isStopped) return;
    await renew(options, target, { name, holder }).catch(failed("Failed to update lease"));
    const fraction = randomFraction(registry.random);
    if (isStopped) return;
    cancel = registry.clock.after(renewMs * (1 + jitter * fraction), () => {
      running = sync();
    });
  };
  const remove = async (what: string): Promise<void> => removeLease(options, target, name).catch(failed(what));
  return {
    async start() {
      running = isShared ? remove("Error deleting old lease").then(sync) : sync();
      await running;
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      cancel();
      await within(
        registry.clock,
        stopTimeoutMs,
        running.then(() => remove("Unable to delete lease")),
      );
    },
  };
}

interface Identity {
  readonly name: string;
  readonly holder: string;
}

async function renew(options: IdentityLeaseOptions, target: Resolved, { name, holder }: Identity): Promise<void> {
  const { registry, hostname, isShared, peerAddress, annotations } = options;
  await update(registry, {
    ...serverWrites.of(target, identityNamespace, name),
    createsMissing: true,
    next(current) {
      const lease = current?.() ?? newLease(name, holder);
      if (!isShared && lease.spec?.holderIdentity !== holder) takeOver(lease, holder);
      const { metadata, spec } = lease;
      lease.spec = {
        ...spec,
        leaseDurationSeconds: durationSeconds,
        renewTime: formatMicroTime(registry.clock.now()),
      };
      const [label, value] = identityLabel;
      metadata.labels = { ...metadata.labels, [label]: value, "kubernetes.io/hostname": hostname };
      const address = peerAddress !== undefined && { "kubernetes.io/peer-advertise-address": peerAddress };
      if (address || annotations) metadata.annotations = { ...metadata.annotations, ...annotations, ...address };
      return lease;
    },
  });
}

function newLease(name: string, holder: string): KubeObject {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, namespace: identityNamespace },
    spec: { holderIdentity: holder },
  };
}

/** The only server of a store does not delete the Lease of its predecessor first: one write is enough. */
function takeOver(lease: KubeObject, holderIdentity: string): void {
  lease.spec = { holderIdentity };
  delete lease.metadata.labels;
  delete lease.metadata.annotations;
}

async function removeLease({ registry }: IdentityLeaseOptions, target: Resolved, name: string): Promise<void> {
  try {
    await deleteOne(registry, { ...serverWrites.of(target, identityNamespace, name), options: { dryRun: false } });
  } catch (error) {
    if (!(error instanceof ApiError) || error.status.reason !== "NotFound") throw error;
  }
}
