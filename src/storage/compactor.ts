/**
 * Periodic compaction. Each interval compacts to the revision that was the newest one interval
 * earlier, so history covers one to two intervals.
 * Source: `k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/compact.go`.
 */
import type { Clock } from "../apimachinery/clock.ts";
import type { Storage } from "./contract.ts";

/** The longest delay that Node's timers accept. */
const delayMaxMs = 2 ** 31 - 1;

interface CompactorOptions {
  readonly storage: Pick<Storage, "compact" | "current">;
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Called after a compaction: history before the revision is no longer readable. */
  compacted(revision: number): void;
  /** Called when the compaction failed; the next attempt follows one interval later. */
  failed(error: unknown): void;
}

/**
 * Starts the periodic compaction.
 * @returns a function that stops it
 */
export function startCompactor({ storage, clock, intervalMs, compacted, failed }: CompactorOptions): () => void {
  let stopped = false;
  let cancel = (): void => {};
  const compact = async (revision: number | undefined): Promise<number> => {
    const newest = await storage.current();
    if (revision === undefined) return newest; // First interval after the start.
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
