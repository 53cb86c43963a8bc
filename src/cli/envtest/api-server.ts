/** The program kube-apiserver of `coxswain envtest`. */
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ServerOptions } from "../../server/options.ts";
import { serve } from "../serve.ts";

/**
 * Serves until a signal or the end of the test process, and then removes the data directory if it
 * was created in --cert-dir. A data directory from --data-dir, or from an earlier start, is kept.
 */
export async function serveForTests(argv: readonly string[]): Promise<void> {
  // envtest ends a start that takes too long, and then starts another server in the same directory.
  const endStart = (): never => process.exit(1);
  process.on("SIGTERM", endStart);
  await serve(argv, ({ server }) => removeAtExit(server));
  process.off("SIGTERM", endStart);
}

function removeAtExit({ certDir, dataDir }: Pick<ServerOptions, "certDir" | "dataDir">): void {
  if (certDir === undefined || dataDir !== join(certDir, "coxswain") || existsSync(dataDir)) return;
  process.once("exit", () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 3 }));
}
