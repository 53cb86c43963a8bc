/** A progress bar on a terminal; elsewhere a line every few seconds. */
import type { Output } from "../output.ts";

const intervalMs = { terminal: 200, other: 5000 };
const barLength = 30;

interface ProgressBar {
  /** Shows how far a step is. The first call of a step starts its rate. */
  show(step: string, done: number, of: number): void;
  /** Shows a line in place of the bar. @param isUrgent shows it at once */
  line(text: string, options?: { readonly isUrgent?: boolean }): void;
  /** Ends the bar, so that other output begins on a line of its own. */
  end(): void;
}

/** @param isTerminal whether the bar replaces itself */
export function progressBar(err: Output["err"], { isTerminal }: { readonly isTerminal: boolean }): ProgressBar {
  let shownMs = Number.NEGATIVE_INFINITY;
  let step: { readonly name: string; readonly sinceMs: number; readonly from: number } | undefined;
  let isOpen = false;
  const write = (text: string): void => {
    err(isTerminal ? `\r\x1b[K${text}` : `${text}\n`);
    isOpen = isTerminal;
  };
  const isDue = (): boolean => {
    const nowMs = performance.now();
    if (nowMs - shownMs < (isTerminal ? intervalMs.terminal : intervalMs.other)) return false;
    shownMs = nowMs;
    return true;
  };
  return {
    show(name, done, of) {
      if (step?.name !== name) step = { name, sinceMs: performance.now(), from: done };
      if (!isDue() && done < of) return;
      const seconds = (performance.now() - step.sinceMs) / 1000;
      const rate = seconds > 0 ? Math.round((done - step.from) / seconds) : 0;
      const filled = of === 0 ? barLength : Math.floor((done / of) * barLength);
      const bar = `[${"#".repeat(filled)}${" ".repeat(barLength - filled)}]`;
      write(`${name} ${isTerminal ? `${bar} ` : ""}${percent(done, of)}% ${done}/${of}, ${rate}/s`);
      if (done >= of) this.end();
    },
    line(text, { isUrgent = false } = {}) {
      if (isUrgent || isDue()) write(text);
    },
    end() {
      if (isOpen) err("\n");
      isOpen = false;
    },
  };
}

function percent(done: number, of: number): number {
  return of === 0 ? 100 : Math.floor((done / of) * 100);
}
