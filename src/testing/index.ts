/**
 * The test kit: servers in the process of a test. Start with `startTestServer`.
 *
 * @packageDocumentation
 */
import { silentLogger } from "../apimachinery/logger.ts";
import { defaultOptions } from "../index.ts";
import type { ServerOptions } from "../options.ts";
import type { TestServer } from "./contract.ts";

export type * from "../public-types.ts";
export type { TestServer } from "./contract.ts";

/** Options of a server for tests. The store is always in memory, and nothing is written to disk. */
export type TestServerOptions = Partial<Omit<ServerOptions, "storage" | "dataDir" | "etcd">>;

/**
 * Starts a server for tests in this process: in memory, on a free port of 127.0.0.1.
 * @throws Error when an option is not valid
 *
 * @example
 * ```ts
 * import { startTestServer } from "coxswain/testing";
 *
 * const server = await startTestServer();
 * console.log(new URL(server.url).hostname); // 127.0.0.1
 * await server.close();
 * ```
 */
export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const { openServer } = await import("../server.ts");
  const { running } = await openServer({ ...defaultOptions, logger: silentLogger, ...options });
  return running;
}
