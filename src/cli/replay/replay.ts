import { readBoundedFile } from "../../lib/bounded-file/bounded-file.ts";
import { printable } from "../../lib/json/printable.ts";
import { parseRecording } from "../../testing/recording/parse-recording.ts";
import { type RecordedRequest, recordedRequests } from "../../testing/recording/replay.ts";
import { openReplayServer, titleOf } from "../../testing/recording/replay-server.ts";
import { runChild } from "../child/run-child.ts";
import { writeTemporaryKubeconfig } from "../child/temporary-kubeconfig.ts";
import { durationMs } from "../flags/flag-types.ts";
import { type Output, warn } from "../output.ts";
import { environmentOf } from "../record/record.ts";

/** The options of `coxswain replay`. */
export interface ReplayCommandOptions {
  readonly patience: string;
  readonly live?: true;
}

/** The result of a replay. */
export interface Replayed {
  /** The exit code of the command; 0 without one. */
  readonly code: number;
  /** Whether the session was the recorded one; of a live server: whether it has all recorded objects. */
  readonly isSame: boolean;
}

/** The size of a recording, in bytes: several times the limit of a session. */
const fileBytesMax = 512 << 20;
/** The differences, the requests that were not sent, or the objects not created, that are printed. */
export const printedMax = 20;

/**
 * Serves a recording to a command, or until a signal.
 *
 * @throws Error if the recording cannot be read
 */
export async function replayFile(
  { file, words, options }: { file: string; words: readonly string[]; options: ReplayCommandOptions },
  output: Output,
  env: NodeJS.ProcessEnv,
): Promise<Replayed> {
  const problems: string[] = [];
  const onMismatch = (problem: string): void => {
    if (problems.push(problem) <= printedMax) output.err(`Difference: ${printable(problem)}\n`);
  };
  const recorded = await readRecording(file, output);
  const patienceMs = durationMs(options.patience);
  const server = await openReplayServer({ recorded, patienceMs, now: Date.now(), onMismatch });
  const { kubeconfig, remove } = writeTemporaryKubeconfig(server.kubeconfig);
  try {
    const code = await serveCommand(words, { kubeconfig, output, env });
    const rest = server.rest();
    printRest(rest, output);
    return { code, isSame: problems.length === 0 && rest.length === 0 };
  } finally {
    await server.close();
    remove();
  }
}

/** Prints what is missing in the file. @throws Error with the name of the file if it is no recording */
export async function readRecording(file: string, output: Output): Promise<readonly RecordedRequest[]> {
  const bytes = await readBoundedFile(file, { bytesMax: fileBytesMax });
  try {
    const { lines, warnings } = parseRecording(bytes);
    for (const warning of warnings) warn(output, `${printable(file)}: ${warning}`);
    return recordedRequests(lines);
  } catch (error) {
    throw new Error(`${file}: ${(error as Error).message}`, { cause: error });
  }
}

/** Runs a command, or prints the path of the kubeconfig and waits for a signal. @returns the exit code */
export async function serveCommand(
  words: readonly string[],
  { kubeconfig, output, env }: { kubeconfig: string; output: Output; env: NodeJS.ProcessEnv },
): Promise<number> {
  if (words.length > 0) return runChild(words as [string, ...string[]], environmentOf(env, kubeconfig), output.err);
  output.out(`${kubeconfig}\n`);
  await new Promise<void>((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => resolve());
  });
  return 0;
}

function printRest(rest: readonly RecordedRequest[], { err }: Output): void {
  for (const one of rest.slice(0, printedMax)) err(`Not sent: ${printable(titleOf(one))}\n`);
  if (rest.length > printedMax) err(`Not sent: ${rest.length - printedMax} more requests\n`);
}
