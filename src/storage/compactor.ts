/**
 * Compacts, each interval, to the revision that was the newest one interval before: history reaches back for one to two intervals.
 * Source: `k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/compact.go`.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { Storage } from "./contract.ts";

/** What timers can count. */
const delayMaxMs = 2 ** 31 - 1;

export interface CompactorOptions {
  readonly storage: Pick<Storage, "compact" | "current">;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** History before the revision is gone. */
  compacted(revision: number): void;
  /** The store could not be compacted; the next attempt comes an interval later. */
  failed(error: unknown): void;
}

/** @returns stops it */
export function startCompactor({ storage, clock, intervalMs, compacted, failed }: CompactorOptions): () => void {
  let stopped = false;
  let cancel = (): void => {};
  const compact = async (revision: number | undefined): Promise<number> => {
    const newest = await storage.current();
    if (revision === undefined) return newest; // After a start nothing is known of the interval before.
    await storage.compact(revision);
    compacted(revision);
    return newest;
  };
  const schedule = (revision: number | undefined): void => {
    if (stopped) return;
    cancel = clock.after(Math.min(intervalMs, delayMaxMs), () => {
      compact(revision).then(schedule, (error: unknown) => {
        if (stopped) return;
        failed(error);
        schedule(revision);
      });
    });
  };
  schedule(undefined);
  return () => {
    stopped = true;
    cancel();
  };
}
