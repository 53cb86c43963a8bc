/** A server for one test file: in memory, on a free port, closed when the test ends. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { type RunningServer, type ServerOptions, startServer } from "../index.ts";

export interface TestServer extends RunningServer {
  /** A file with the kubeconfig of a system:masters user. */
  readonly kubeconfigPath: string;
  /** Removed at the end; for a test's own files. */
  readonly directory: string;
}

/** @param owner the test or suite whose end closes the server: its `after` hook */
export async function startTestServer(owner: Pick<TestContext, "after">, options: Partial<ServerOptions> = {}): Promise<TestServer> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-test-"));
  const server = await startServer(options);
  const kubeconfigPath = join(directory, "kubeconfig");
  writeFileSync(kubeconfigPath, server.kubeconfig, { mode: 0o600 });
  owner.after(async () => {
    await server.close();
    rmSync(directory, { recursive: true, force: true });
  });
  return { ...server, kubeconfigPath, directory };
}
