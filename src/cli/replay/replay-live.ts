/** `coxswain replay --live`: a server with the objects of a recording. */
import { printable } from "../../lib/json/printable.ts";
import { initialState } from "../../testing/recording/initial-state.ts";
import { withClient } from "../client/with-client.ts";
import type { Output } from "../output.ts";
import { environmentOf } from "../record/record.ts";
import { openCommandServer } from "../test/open-server.ts";
import { testServerFlags, testSettings } from "../test/settings.ts";
import { printedMax, type Replayed, readRecording, serveCommand } from "./replay.ts";

/**
 * Starts a server in memory, creates the objects that existed when the recorded session began, and
 * serves them to a command, or until a signal.
 *
 * @returns whether all objects were created
 * @throws Error if the recording cannot be read, or the server cannot start
 */
export async function replayLive(
  file: string,
  words: readonly string[],
  output: Output,
  env: NodeJS.ProcessEnv,
): Promise<Replayed> {
  const objects = initialState(await readRecording(file, output));
  const server = await openCommandServer(testSettings(testServerFlags()), output.err);
  try {
    const { createObjects } = await import("./create-objects.ts");
    const { kubeconfig } = server;
    const problems = await withClient({ kubeconfig }, env, (client) => createObjects(client, objects));
    for (const problem of problems.slice(0, printedMax)) output.err(`Not created: ${printable(problem)}\n`);
    if (problems.length > printedMax) output.err(`Not created: ${problems.length - printedMax} more objects\n`);
    const code = await serveCommand(words, { kubeconfig, output, env: environmentOf(env, kubeconfig) });
    return { code, isSame: problems.length === 0 };
  } finally {
    await server.close();
  }
}
