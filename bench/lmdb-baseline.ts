/** Baseline (b): durable LMDB transactions, nothing around them. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";

export interface BaselineOptions {
  readonly dir: string;
  readonly operations: number;
  /** Transactions asked for at a time; lmdb-js lets those of one turn share a commit. */
  readonly concurrency: number;
  readonly keysPerTransaction: number;
}

/** @returns CPU of this process and time on the clock per transaction, milliseconds */
export async function durablePutsBaseline(
  options: BaselineOptions,
): Promise<{ cpuMsPerOp: number; wallMsPerOp: number }> {
  mkdirSync(options.dir, { recursive: true });
  const store = open<Buffer, Buffer>({
    path: join(options.dir, "baseline.mdb"),
    encoding: "binary",
    keyEncoding: "binary",
    cache: false,
    overlappingSync: false,
  });
  const value = Buffer.alloc(1300, "x");
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < options.operations) {
      const operation = next++;
      let last: Promise<boolean> | undefined;
      for (let index = 0; index < options.keysPerTransaction; index++)
        last = store.put(Buffer.from(`${operation}/${index}`), index === 0 ? value : value.subarray(0, 16));
      await last;
    }
  };
  const cpuBefore = process.cpuUsage();
  const startedAt = performance.now();
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  const { user, system } = process.cpuUsage(cpuBefore);
  const wallMs = performance.now() - startedAt;
  await store.close();
  return { cpuMsPerOp: (user + system) / 1000 / options.operations, wallMsPerOp: wallMs / options.operations };
}
