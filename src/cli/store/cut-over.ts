/** The operator's request to end a copy that follows its source. */
import type { CutOver } from "../../storage/copy/copy.ts";

/** The signal of the request; Enter on a terminal is the same. */
export const cutOverSignal = "SIGUSR2";

interface OperatorCutOver extends CutOver {
  /** Receives no more requests. */
  close(): void;
}

/** Receives signals of this process, and Enter when its standard input is a terminal. */
export function operatorCutOver(): OperatorCutOver {
  let requested = Promise.withResolvers<void>();
  let isRequested = false;
  const request = (): void => {
    isRequested = true;
    requested.resolve();
  };
  process.on(cutOverSignal, request);
  const { stdin } = process;
  if (stdin.isTTY) stdin.on("data", request);
  return {
    get isRequested() {
      return isRequested;
    },
    wait: () => requested.promise,
    reset() {
      isRequested = false;
      requested = Promise.withResolvers();
    },
    close() {
      process.off(cutOverSignal, request);
      if (stdin.isTTY) stdin.off("data", request).pause();
    },
  };
}
