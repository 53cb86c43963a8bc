import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { openRecordingProxy } from "../../testing/recording/recording-proxy.ts";
import { newSecrets } from "../../testing/recording/secrets.ts";
import { newSession } from "../../testing/recording/session.ts";
import { runChild } from "../child/run-child.ts";
import { writeTemporaryKubeconfig } from "../child/temporary-kubeconfig.ts";
import { type ServerOptions, withClient } from "../client/with-client.ts";
import { writePrivateFile } from "../kubeconfig/write-private-file.ts";
import type { Output } from "../output.ts";

/** The options of `coxswain record`. */
export interface RecordOptions extends ServerOptions {
  readonly to: string;
  readonly force?: boolean;
  readonly keepLastApplied?: boolean;
}

/**
 * Runs a command, and records its session.
 *
 * @returns the exit code of the command
 * @throws Error if the session cannot be recorded, also because the file exists
 */
export async function recordCommandLine(
  words: readonly string[],
  { to, force = false, keepLastApplied: keepsLastApplied = false, ...server }: RecordOptions,
  { err }: Output,
  env: NodeJS.ProcessEnv,
): Promise<number> {
  if (!force && existsSync(to)) throw new Error(`${to} exists already: --force replaces it`);
  const session = newSession(newSecrets());
  const code = await withClient(server, env, async (client) => {
    const proxy = await openRecordingProxy({ forwarder: client, session, keepsLastApplied, now: Date.now() });
    const { kubeconfig, remove } = writeTemporaryKubeconfig(proxy.kubeconfig);
    try {
      const exitCode = await runChild(words as [string, ...string[]], environmentOf(env, kubeconfig), err);
      const failure = proxy.failure();
      if (failure !== undefined) throw failure;
      return exitCode;
    } finally {
      await proxy.close();
      remove();
    }
  });
  await writePrivateFile(to, session.format(), { replace: force });
  return code;
}

/**
 * The environment of a command. kubectl caches discovery by the port of the server, which another
 * session can have had.
 */
export function environmentOf(env: NodeJS.ProcessEnv, kubeconfig: string): NodeJS.ProcessEnv {
  return { ...env, KUBECONFIG: kubeconfig, KUBECACHEDIR: join(dirname(kubeconfig), "cache") };
}
