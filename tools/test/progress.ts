/** Shows on a terminal what the tests do, and prints each failure at once. */
import type { FileResult } from "./protocol.ts";

export interface Progress {
  started(file: string): void;
  finished(result: FileResult, output: string): void;
  /** Removes the line of the terminal. */
  end(): void;
}

/** In a log, a line is printed after this many files, and for a file that runs for so long. */
const filesPerLine = 100;
const longFileMs = 60_000;

export function progress(total: number): Progress {
  const isTerminal = process.stdout.isTTY === true;
  const running = new Set<string>();
  const longTimers = new Map<string, NodeJS.Timeout>();
  let [files, tests, failed] = [0, 0, 0];
  const counts = (): string => `${files} of ${total} files, ${tests} passed, ${failed} failed`;
  const clear = (): void => void (isTerminal && process.stdout.write("\r\x1b[K"));
  function show(): void {
    if (!isTerminal) return;
    clear();
    process.stdout.write(`${counts()}  ${[...running].join("  ")}`.slice(0, process.stdout.columns - 1));
  }
  return {
    started(file) {
      running.add(file);
      const report = (): void => console.log(`${file} runs for more than ${longFileMs / 1000} s`);
      if (!isTerminal) longTimers.set(file, setTimeout(report, longFileMs));
      show();
    },
    finished(result, output) {
      running.delete(result.file);
      clearTimeout(longTimers.get(result.file));
      files++;
      tests += result.passed;
      failed += result.failures.length;
      if (result.failures.length > 0) {
        clear();
        console.log(`✖ ${result.file} (${result.failures.length} failed)`);
        if (output.trim() !== "") console.log(indent(output.trimEnd()));
      }
      if (isTerminal) show();
      else if (files % filesPerLine === 0 || files === total) console.log(counts());
    },
    end: clear,
  };
}

export function indent(text: string): string {
  return text.replaceAll(/^(?=.)/gm, "    ");
}
