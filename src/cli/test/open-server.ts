/** The server of `coxswain test`. */
import { systemClock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import { startTestServer, virtualClock } from "../../testing/index.ts";
import { writeTemporaryKubeconfig } from "../child/temporary-kubeconfig.ts";
import type { Settings } from "../flags/contract.ts";
import { createLogger } from "../logger.ts";

/** A server, and a kubeconfig in a directory that only this user can read. */
export interface CommandServer {
  readonly url: string;
  /** The path of a file; its user is in system:masters. */
  readonly kubeconfig: string;
  /** The requests of all clients as text, with their results and what they changed. */
  timeline(): string;
  /** Ends the server and removes the kubeconfig. */
  close(): Promise<void>;
}

/**
 * Starts a server in memory. Its warnings and errors are logged.
 *
 * @param err writes to standard error
 * @throws Error when the server cannot start
 */
export async function openCommandServer(settings: Settings, err: (text: string) => void): Promise<CommandServer> {
  const { storage: _storage, dataDir: _dataDir, etcd: _etcd, ...options } = settings.server;
  const clock = settings.command.virtualClock ? { clock: virtualClock() } : {};
  const server = await startTestServer({ ...options, ...clock, logger: problemLogger(settings, err), control: true });
  const { kubeconfig, remove } = writeTemporaryKubeconfig(server.kubeconfig);
  return {
    url: server.url,
    kubeconfig,
    timeline: () => server.timeline.format(),
    async close() {
      await server.close();
      remove();
    },
  };
}

function problemLogger({ command }: Settings, write: (text: string) => void): Logger {
  return { ...createLogger({ format: command.log.format, now: systemClock.now, write }), info() {} };
}
