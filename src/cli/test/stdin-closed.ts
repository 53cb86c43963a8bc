/** Waits for the end of the process that started `coxswain test --until-stdin-closes`. */
import { constants } from "node:os";
import { exitSignal } from "../exit-codes.ts";

/**
 * Resolves when standard input ends, or on SIGTERM; a second SIGTERM exits at once. The operating
 * system closes the pipe when the process at its other end is gone, however it ended. SIGINT counts on
 * a terminal alone: otherwise the key that stops tests, which sends it to this process, too, would end
 * the server that they need to clean up.
 */
export async function stdinClosed(): Promise<void> {
  const { stdin } = process;
  await new Promise<void>((resolve) => {
    let isEnding = false;
    const onSignal = (signal: NodeJS.Signals): void => {
      if (signal === "SIGINT" && !stdin.isTTY) return;
      if (isEnding) process.exit(exitSignal + constants.signals[signal]);
      isEnding = true;
      resolve();
    };
    process.on("SIGTERM", onSignal);
    process.on("SIGINT", onSignal);
    stdin.once("end", resolve);
    stdin.once("error", () => resolve());
    stdin.resume();
  });
  stdin.destroy();
}
