/**
 * Deletes the Leases of servers that have not renewed them. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/apiserverleasegc/gc_controller.go`.
 */

import type { KubeObject } from "../../apimachinery/object.ts";
import { identityLabel, identityNamespace } from "../../apimachinery/server-identity.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import { deleteOne } from "../audited-writes.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { serverWrites } from "../controller-write.ts";
import { repeatedController } from "../repeated.ts";

const intervalMs = 3_600_000;

/** Creates the controller, which checks the Leases at its start and each hour. */
export function identityLeaseCollector(options: ControllerOptions): Controller {
  const { registry } = options;
  const target = registry.catalog.findServed("coordination.k8s.io", "v1", "leases");
  const store = target?.resource.store;
  if (target === undefined || store === undefined) return { start() {}, stop: async () => {} };
  return repeatedController(options, {
    task: "delete expired leases of servers",
    intervalMs,
    runsAtStart: true,
    run: (deciding) => collectExpired(deciding, target, store),
  });
}

async function collectExpired(registry: RegistryContext, target: Resolved, store: ResourceStore): Promise<void> {
  const [label, value] = identityLabel;
  for (const entry of (await store.cache.current()).range(store.keyOf(identityNamespace, ""))) {
    if (entry.index.labels.get(label) !== value) continue;
    const { metadata, spec } = store.decode(entry);
    if (!isExpired(spec, registry.clock.now())) continue;
    const { name = "", uid = "" } = metadata;
    // A Lease that was renewed meanwhile is kept.
    const preconditions = { uid, resourceVersion: String(entry.revision) };
    await unlessConflict(async () => {
      const options = { preconditions, dryRun: false };
      await deleteOne(registry, { ...serverWrites.of(target, identityNamespace, name), options });
    });
  }
}

/** Servers set both fields, so a Lease without them is none of a server. */
function isExpired(spec: KubeObject["spec"], now: number): boolean {
  const { renewTime, leaseDurationSeconds } = spec ?? {};
  if (renewTime === undefined || leaseDurationSeconds === undefined) return true;
  return Date.parse(renewTime) + leaseDurationSeconds * 1000 < now;
}
