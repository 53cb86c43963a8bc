/** Reports the progress of long operations. */
import type { Output } from "../output.ts";

const intervalMs = 2000;

/**
 * @param what what is being done, such as `Reading`
 * @returns a function that prints the percentage at most every two seconds; both of its parameters
 *   have the same unit
 */
export function reportProgress(err: Output["err"], what: string): (done: number, whole: number) => void {
  let lastMs = performance.now();
  return (done, whole) => {
    const nowMs = performance.now();
    if (nowMs - lastMs < intervalMs) return;
    lastMs = nowMs;
    err(`${what}: ${Math.min(100, Math.floor((done / whole) * 100))}%\n`);
  };
}
