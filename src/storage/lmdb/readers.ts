/**
 * Detects other processes that read the store with LMDB. LMDB does not reuse pages that one of them
 * may read, so the file grows until they end.
 */
import type { RootDatabase } from "lmdb";
import type { Logger } from "../../apimachinery/logger.ts";

/** Transactions after which a reader is logged. */
const behindMax = 1000;

interface Reader {
  readonly pid: number;
  readonly transaction: number;
}

export class Readers {
  readonly #logger: Logger | undefined;
  /** Readers that were logged and are still active. */
  #reported = new Set<string>();

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /**
   * Frees the slots of processes that were killed, and logs processes that read an old state. Call
   * it when the file grows.
   */
  check(root: RootDatabase): void {
    root.readerCheck();
    const { lastTxnId } = root.getStats() as { lastTxnId: number };
    const old = readersIn(root.readerList()).filter(
      ({ pid, transaction }) => pid !== process.pid && lastTxnId - transaction > behindMax,
    );
    const reported = new Set<string>();
    for (const { pid, transaction } of old) {
      const name = `${pid} ${transaction}`;
      reported.add(name);
      if (this.#reported.has(name)) continue;
      this.#logger?.warn("Another process reads an old state of the store, whose file grows meanwhile", {
        pid,
        transactions: lastTxnId - transaction,
      });
    }
    this.#reported = reported;
  }

  /** Returns the transaction of the oldest reader of any process, this one included; infinity without readers. */
  oldest(root: RootDatabase): number {
    return Math.min(...readersIn(root.readerList()).map(({ transaction }) => transaction));
  }
}

/**
 * Parses LMDB's reader list: each line has a process, a thread, and the transaction that it reads,
 * or `-`.
 */
function readersIn(list: string): Reader[] {
  return [...list.matchAll(/^ *(\d+) +[0-9a-f]+ +(\d+)$/gm)].map(([, pid, transaction]) => ({
    pid: Number(pid),
    transaction: Number(transaction),
  }));
}
