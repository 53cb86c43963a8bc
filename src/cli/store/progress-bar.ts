/** A progress bar of work that takes longer than a second, on a terminal; elsewhere a line every few seconds. */
import type { Output } from "../output.ts";

/** Shorter work has no bar. */
const delayMs = { terminal: 1000, other: 5000 };
const intervalMs = { terminal: 200, other: 5000 };
const barLength = 30;
const mebibyte = 2 ** 20;

/** Shows how far work is. */
export interface ProgressBar {
  /**
   * Shows how far a step is. The first call of a step starts its rate.
   *
   * @param unit `bytes` are shown in MiB
   */
  show(step: string, done: number, of: number, unit?: "objects" | "bytes"): void;
  /** Shows a line in place of the bar. @param isUrgent shows it at once */
  line(text: string, options?: { readonly isUrgent?: boolean }): void;
  /** Removes the bar, before other output. */
  end(): void;
}

/** @param now milliseconds of a monotonic clock */
export function progressBar(
  { err, errIsTerminal: isTerminal = false }: Output,
  now = () => performance.now(),
): ProgressBar {
  const kind = isTerminal ? "terminal" : "other";
  let dueMs = now() + delayMs[kind];
  let step: { readonly name: string; readonly sinceMs: number; readonly from: number } | undefined;
  let isOpen = false;
  const write = (text: string): void => {
    err(isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
    isOpen = isTerminal;
  };
  const isDue = (): boolean => {
    if (now() < dueMs) return false;
    dueMs = now() + intervalMs[kind];
    return true;
  };
  return {
    show(name, done, of, unit = "objects") {
      if (step?.name !== name) step = { name, sinceMs: now(), from: done };
      if (!isDue()) return;
      const seconds = (now() - step.sinceMs) / 1000;
      const rate = seconds > 0 ? (done - step.from) / seconds : 0;
      const ratio = of === 0 ? 1 : Math.min(1, done / of);
      const filled = Math.floor(ratio * barLength);
      const bar = isTerminal ? `[${"#".repeat(filled)}${" ".repeat(barLength - filled)}] ` : "";
      const amounts =
        unit === "bytes" ? ` of ${mebibytes(of)}, ${mebibytes(rate)}/s` : ` ${done}/${of}, ${Math.round(rate)}/s`;
      write(`${name} ${bar}${Math.floor(ratio * 100)}%${amounts}`);
    },
    line(text, { isUrgent = false } = {}) {
      if (!isUrgent && !isDue()) return;
      write(text);
      if (!isUrgent || !isTerminal) return;
      err("\n"); // It stays.
      isOpen = false;
    },
    end() {
      if (isOpen) err("\r\x1b[K");
      isOpen = false;
    },
  };
}

const mebibytes = (bytes: number): string => `${(bytes / mebibyte).toFixed(bytes < 10 * mebibyte ? 1 : 0)} MiB`;
