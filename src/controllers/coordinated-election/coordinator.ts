/**
 * Elects the holders of Leases that have LeaseCandidates. Source:
 * `k8s.io/kubernetes@v1.36.0/pkg/controlplane/controller/leaderelection/leaderelection_controller.go`.
 */
import type { Entry } from "../../watch-cache/contract.ts";
import { type Follower, followCache } from "../../watch-cache/follow.ts";
import type { Controller, ControllerOptions } from "../contract.ts";
import { openWorkQueue } from "../work-queue.ts";
import { candidateOf, electionMs, isPending } from "./candidates.ts";
import { type ElectionKinds, stepElection } from "./election-step.ts";

/** Leases that are elected at a time, and that wait; candidates of further ones wait for a change. */
const electionsAtOnce = 1;
const electionsMax = 10_000;

/** Creates the controller, which one server runs at a time. */
export function electionCoordinator(options: ControllerOptions, kinds: ElectionKinds): Controller {
  const { registry, logger, queues } = options;
  /** The next check of each Lease that has candidates. */
  const timers = new Map<string, () => void>();
  const again = (key: string): void => {
    if (timers.has(key)) return; // The earlier one counts.
    timers.set(
      key,
      registry.clock.after(electionMs, () => {
        timers.delete(key);
        queue.add(key);
      }),
    );
  };
  const queue = openWorkQueue({
    registry,
    observer: queues?.("leader-election-controller"),
    async reconcile(key, deciding) {
      if (await stepElection({ ...options, registry: deciding }, kinds, key)) again(key);
      return true;
    },
    failed: (lease, error) => {
      logger.error("Failed to reconcile election step", { lease, error: String(error) });
    },
    concurrency: electionsAtOnce,
    keysMax: electionsMax,
  });
  let followers: Follower[] = [];
  return {
    start() {
      followers = followBoth(options, kinds, (key) => void queue.add(key));
    },
    async stop() {
      for (const follower of followers) follower.stop();
      for (const cancel of timers.values()) cancel();
      timers.clear();
      await queue.stop();
    },
  };
}

/** Enqueues Leases that change, or whose candidates do. Leases without candidates are not elected. */
function followBoth(
  { registry, logger }: ControllerOptions,
  { leases, candidates }: ElectionKinds,
  add: (key: string) => void,
): Follower[] {
  /** The Lease of each candidate, by the candidate's key. */
  const leaseOf = new Map<string, string>();
  /** The number of candidates of each Lease that has some. */
  const counts = new Map<string, number>();
  const count = (lease: string, by: number): void => {
    const total = (counts.get(lease) ?? 0) + by;
    if (total === 0) counts.delete(lease);
    else counts.set(lease, total);
  };
  const changedLease = ({ index: { namespace, name } }: Entry): void => {
    const key = keyOf(namespace, name);
    if (counts.has(key)) add(key);
  };
  const changedCandidate = (entry: Entry): void => {
    const candidate = candidates.store.decode(entry);
    const key = keyOf(entry.index.namespace, candidate.spec?.leaseName ?? "");
    if (!leaseOf.has(entry.key)) count(key, 1); // The name of the Lease cannot be changed.
    leaseOf.set(entry.key, key);
    // A ping does not change the result.
    if (!isPending(candidateOf(candidate, entry.revision))) add(key);
  };
  const common = {
    clock: registry.clock,
    failed: (error: unknown) => logger.warn("Failed to read candidates of elections", { error: String(error) }),
  };
  const lost = (key: string): void => {
    const lease = leaseOf.get(key);
    leaseOf.delete(key);
    if (lease === undefined) return;
    count(lease, -1);
    add(lease);
  };
  return [
    followCache({
      ...common,
      cache: candidates.store.cache,
      prefix: candidates.store.form.prefix,
      set: changedCandidate,
      deleted: ({ key }) => lost(key),
      knownKeys: () => leaseOf.keys(),
      missing: lost,
    }),
    followCache({
      ...common,
      cache: leases.store.cache,
      prefix: leases.store.form.prefix,
      set: changedLease,
      deleted: changedLease,
      knownKeys: () => [],
      missing() {},
    }),
  ];
}

function keyOf(namespace: string, name: string): string {
  return `${namespace}/${name}`;
}
