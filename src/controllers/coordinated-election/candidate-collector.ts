/**
 * Deletes LeaseCandidates that have ended. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/leaderelection/leasecandidategc_controller.go`.
 */

import type { RegistryContext } from "../../registry/contract.ts";
import { unlessConflict } from "../../registry/unless-conflict.ts";
import { deleteOne } from "../audited-writes.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { repeatedController } from "../repeated.ts";
import { candidateOf, isCandidateExpired } from "./candidates.ts";
import { type ElectionKinds, writes } from "./election-step.ts";

const intervalMs = 30 * 60_000;

/** Creates the controller, which checks the candidates at its start and each half hour. */
export function candidateCollector(options: ControllerOptions, kinds: ElectionKinds): Controller {
  return repeatedController(options, {
    task: "delete expired lease candidates",
    intervalMs,
    runsAtStart: true,
    run: (registry) => collectExpired(registry, kinds),
  });
}

async function collectExpired(registry: RegistryContext, { candidates: target }: ElectionKinds): Promise<void> {
  const { store } = target;
  for (const entry of (await store.cache.current()).range(store.form.prefix)) {
    const candidate = candidateOf(store.decode(entry), entry.revision);
    if (!isCandidateExpired(candidate, registry.clock.now())) continue;
    const { namespace, name } = entry.index;
    // A candidate that has renewed meanwhile is kept.
    const preconditions = { resourceVersion: String(entry.revision) };
    await unlessConflict(async () => {
      await deleteOne(registry, { ...writes.of(target, namespace, name), options: { preconditions, dryRun: false } });
    });
  }
}
