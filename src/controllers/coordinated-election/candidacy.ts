/**
 * The LeaseCandidate of a server that wants to be elected. Source:
 * `k8s.io/client-go@v0.36.0/tools/leaderelection/leasecandidate.go`.
 */

import { formatMicroTime } from "../../apimachinery/clock.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import { update } from "../audited-writes.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import type { ControllerWrites } from "../controller-write.ts";
import { openWorkQueue } from "../work-queue.ts";
import { candidateOf, isPending, oldestEmulationVersion } from "./candidates.ts";
import type { ElectionKinds } from "./election-step.ts";

interface CandidacyOptions extends ControllerOptions {
  readonly kinds: ElectionKinds;
  readonly writes: ControllerWrites;
  readonly namespace: string;
  /** The name of the Lease. */
  readonly lease: string;
  /** Also the name of the candidate. */
  readonly identity: string;
  /** Such as `1.36.0`. */
  readonly versions: { readonly binaryVersion: string; readonly emulationVersion: string };
}

const renewMs = 5 * 60_000;

/** Creates the candidate, renews it, and answers pings. */
export function candidacy(options: CandidacyOptions): Controller {
  const { registry, logger, queues, kinds, namespace, identity } = options;
  const { store } = kinds.candidates;
  let follower: Follower | undefined;
  let cancel = (): void => {};
  const queue = openWorkQueue({
    registry,
    observer: queues?.("leasecandidate"),
    async reconcile(name, deciding) {
      await renew({ ...options, registry: deciding });
      cancel();
      cancel = registry.clock.after(renewMs, () => void queue.add(name));
      return true;
    },
    failed: (_name, error) => logger.error("Ensuring lease failed", { error: String(error) }),
    concurrency: 1,
    keysMax: 1,
  });
  return {
    start() {
      queue.add(identity);
      follower = followCache({
        cache: store.cache,
        prefix: store.keyOf(namespace, identity),
        clock: registry.clock,
        set(entry) {
          if (entry.index.name === identity && isPending(candidateOf(store.decode(entry), entry.revision)))
            queue.add(identity);
        },
        deleted() {},
        knownKeys: () => [],
        missing() {},
        failed: (error) => logger.warn("Failed to read the lease candidate", { error: String(error) }),
      });
    },
    async stop() {
      cancel();
      follower?.stop();
      await queue.stop();
    },
  };
}

async function renew({
  registry,
  kinds,
  writes,
  namespace,
  lease,
  identity,
  versions,
}: CandidacyOptions): Promise<void> {
  const newCandidate = (): KubeObject => ({
    apiVersion: "coordination.k8s.io/v1beta1",
    kind: "LeaseCandidate",
    metadata: { name: identity, namespace },
    spec: {
      leaseName: lease,
      ...versions,
      strategy: oldestEmulationVersion,
    },
  });
  await update(registry, {
    ...writes.of(kinds.candidates, namespace, identity),
    createsMissing: true,
    next(current) {
      const candidate = current?.() ?? newCandidate();
      candidate.spec.renewTime = formatMicroTime(registry.clock.now());
      return candidate;
    },
  });
}
