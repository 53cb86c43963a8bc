/** The storage engines of test servers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ServerOptions } from "../../src/index.ts";
import { etcdDefaults } from "../../src/storage/etcd/options.ts";
import { skipWithoutEtcd, startEtcd } from "./etcd.ts";

export type Engine = ServerOptions["storage"];

/** Every engine, for tests that run with each of them, and why its tests are skipped. */
export const engines: readonly (readonly [engine: Engine, skip: string | false])[] = [
  ["memory", false],
  ["lmdb", false],
  ["etcd", skipWithoutEtcd],
];

/** The engine of test servers whose options name none; COXSWAIN_TEST_STORAGE replaces memory. */
export const defaultEngine = (process.env.COXSWAIN_TEST_STORAGE ?? "memory") as Engine;

/** An empty store for one test server. */
export interface TestEngine {
  readonly options: Partial<ServerOptions> & Pick<ServerOptions, "storage">;
  /** Removes the store. The server must be closed. */
  close(): Promise<void>;
}

/** Creates a directory for lmdb, and a cluster of one member for etcd. */
export async function openTestEngine(storage: Engine): Promise<TestEngine> {
  if (storage === "memory") return { options: { storage }, async close() {} };
  if (storage === "etcd") {
    const { urls: servers, close } = await startEtcd();
    return { options: { storage, etcd: { ...etcdDefaults, servers } }, close };
  }
  const dataDir = mkdtempSync(join(tmpdir(), "coxswain-test-engine-"));
  return {
    options: { storage, dataDir, durability: "relaxed" },
    close: async () => rmSync(dataDir, { recursive: true, force: true }),
  };
}
