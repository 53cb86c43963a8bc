/**
 * Compacts the history of a shared cluster: each interval one of the servers compacts to the revision
 * of the interval before. The servers agree by a key whose version counts the compactions; another
 * that finds it changed waits for one more interval.
 * Source: `k8s.io/apiserver@v0.36.0/pkg/storage/etcd3/compact.go`.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { RevisionCompacted } from "../contract.ts";
import type { EtcdClient } from "./api/client.ts";
import { compareTarget } from "./api/messages.ts";
import { compactionKey } from "./compaction-watch.ts";

/** The longest delay that Node's timers accept. */
const delayMaxMs = 2 ** 31 - 1;

interface CompactorOptions {
  readonly clock: Clock;
  readonly logger?: Logger | undefined;
  readonly compactionIntervalMs: number;
}

/**
 * @param compacted called with each revision that was compacted
 * @returns stops it
 */
export function compactSometimes(
  client: Pick<EtcdClient, "txn" | "compact" | "range">,
  { clock, logger, compactionIntervalMs }: CompactorOptions,
  compacted: (revision: number) => void,
): () => void {
  if (compactionIntervalMs === 0) return () => {};
  let stopped = false;
  let cancel = (): void => {};
  let version = 0;
  let revision = 0;
  const compact = async (): Promise<void> => {
    const { succeeded, header, responses } = await client.txn({
      compare: [{ target: compareTarget.version, key: compactionKey, version }],
      success: [{ request_put: { key: compactionKey, value: Buffer.from(String(revision)) } }],
      failure: [{ request_range: { key: compactionKey } }],
    });
    const previous = revision;
    revision = header.revision;
    if (!succeeded) {
      version = responses?.[0]?.response_range?.kvs?.[0]?.version ?? 0;
      return;
    }
    version++;
    if (previous === 0) return;
    await client.compact(previous).catch((error: unknown) => {
      if (!(error instanceof RevisionCompacted)) throw error;
    });
    compacted(previous);
  };
  const schedule = (): void => {
    if (stopped) return;
    cancel = clock.after(Math.min(compactionIntervalMs, delayMaxMs), () => {
      compact().then(schedule, (error: unknown) => {
        if (stopped) return;
        logger?.error("Compaction failed", { error: String(error) });
        schedule();
      });
    });
  };
  schedule();
  return () => {
    stopped = true;
    cancel();
  };
}
