/** A server for one test file: in memory, on a free port. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RunningServer, type ServerOptions, startServer } from "../index.ts";

export interface TestServer extends RunningServer {
  /** A file with the kubeconfig of a system:masters user. */
  readonly kubeconfigPath: string;
  /** Removed at the end; for a test's own files. */
  readonly directory: string;
}

/** The caller closes it, in an `after` hook. */
export async function startTestServer(options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-test-"));
  const server = await startServer(options);
  const kubeconfigPath = join(directory, "kubeconfig");
  writeFileSync(kubeconfigPath, server.kubeconfig, { mode: 0o600 });
  return {
    ...server,
    kubeconfigPath,
    directory,
    async close() {
      await server.close();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
