/** Says now and then how far it is, for what takes long. */
import type { Output } from "./contract.ts";

const pauseMs = 2000;

/** @returns to be called as often as one likes with what is done, in the same unit as the whole */
export function reportProgress(err: Output["err"], what: string): (done: number, whole: number) => void {
  let lastMs = performance.now();
  return (done, whole) => {
    const nowMs = performance.now();
    if (nowMs - lastMs < pauseMs) return;
    lastMs = nowMs;
    err(`${what}: ${Math.min(100, Math.floor((done / whole) * 100))}%\n`);
  };
}
