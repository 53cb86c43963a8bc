import { silentLogger } from "../apimachinery/logger.ts";
import { defaultOptions } from "./default-options.ts";
import type { RunningServer, ServerOptions } from "./options.ts";

/**
 * Starts a server in this process, by default in memory on a free port of 127.0.0.1.
 * @throws Error when an option is not valid, the port is taken, or the data directory is in use by another server
 *
 * @example
 * ```ts
 * import { startServer } from "coxswain";
 *
 * const server = await startServer(); // In memory, with a free port.
 * try {
 *   console.log(new URL(server.url).hostname); // 127.0.0.1
 * } finally {
 *   await server.close();
 * }
 * ```
 */
export async function startServer(options: Partial<ServerOptions> = {}): Promise<RunningServer> {
  const { openServer } = await import("./server.ts");
  const { running } = await openServer({ ...defaultOptions, logger: silentLogger, ...options });
  return running;
}
