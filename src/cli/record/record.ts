import { dirname, join } from "node:path";
import { openRecordingFile } from "../../testing/recording/recording-file.ts";
import { openRecordingProxy, type RecordingProxyOptions } from "../../testing/recording/recording-proxy.ts";
import { newSecrets } from "../../testing/recording/secrets.ts";
import { newSession } from "../../testing/recording/session.ts";
import { runChild } from "../child/run-child.ts";
import { writeTemporaryKubeconfig } from "../child/temporary-kubeconfig.ts";
import { type ServerOptions, withClient } from "../client/with-client.ts";
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
  return withClient(server, env, async (client) => {
    const file = openRecordingFile(to, { replace: force });
    try {
      const session = newSession({ secrets: newSecrets(), append: file.append });
      const run = (kubeconfig: string): Promise<number> =>
        runChild(words as [string, ...string[]], environmentOf(env, kubeconfig), err);
      const code = await recordRun({ forwarder: client, session, keepsLastApplied, now: Date.now() }, run);
      await file.finish(session.clean);
      return code;
    } finally {
      await file.close();
    }
  });
}

/** @throws Error if a part of the session could not be recorded */
async function recordRun(
  options: RecordingProxyOptions,
  run: (kubeconfig: string) => Promise<number>,
): Promise<number> {
  const proxy = await openRecordingProxy(options);
  const { kubeconfig, remove } = writeTemporaryKubeconfig(proxy.kubeconfig);
  try {
    const code = await run(kubeconfig);
    const failure = proxy.failure();
    if (failure !== undefined) throw failure;
    return code;
  } finally {
    await proxy.close();
    remove();
  }
}

/**
 * The environment of a command. kubectl caches discovery by the port of the server, which another
 * session can have had.
 */
export function environmentOf(env: NodeJS.ProcessEnv, kubeconfig: string): NodeJS.ProcessEnv {
  return { ...env, KUBECONFIG: kubeconfig, KUBECACHEDIR: join(dirname(kubeconfig), "cache") };
}
