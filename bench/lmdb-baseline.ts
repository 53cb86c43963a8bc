/** Baseline (b): durable LMDB transactions without a server. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { open } from "lmdb";

export interface BaselineOptions {
  readonly dir: string;
  readonly operations: number;
  /** Concurrent transactions; lmdb-js commits those of one event loop turn together. */
  readonly concurrency: number;
  readonly keysPerTransaction: number;
}

/** @returns CPU time of this process and elapsed time per transaction, in milliseconds */
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
