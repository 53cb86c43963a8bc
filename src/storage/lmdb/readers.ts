/** Other processes that read the store: a backup, a tool. LMDB reuses no page that one of them may see, so the file grows as long as they read. */
import type { RootDatabase } from "lmdb";
import type { Logger } from "../../apimachinery/logger.ts";

/** Transactions after which a reader is reported: a backup of a small store ends before. */
const behindMax = 1000;

interface Reader {
  readonly pid: number;
  readonly transaction: number;
}

export class Readers {
  readonly #logger: Logger | undefined;
  /** The states that were reported; of readers that go on. */
  #reported = new Set<string>();

  constructor(logger: Logger | undefined) {
    this.#logger = logger;
  }

  /** Frees the places of processes that were killed, and reports each state that another process has read for long. To be called when the file grows. */
  check(root: RootDatabase): void {
    root.readerCheck();
    const { lastTxnId } = root.getStats() as { lastTxnId: number };
    const old = otherReaders(root.readerList()).filter(({ transaction }) => lastTxnId - transaction > behindMax);
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
}

/** A line has a process, a thread, and the transaction that it reads, or `-`. */
function otherReaders(list: string): Reader[] {
  return [...list.matchAll(/^ *(\d+) +[0-9a-f]+ +(\d+)$/gm)]
    .map(([, pid, transaction]) => ({ pid: Number(pid), transaction: Number(transaction) }))
    .filter(({ pid }) => pid !== process.pid);
}
