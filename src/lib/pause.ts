import { setImmediate as nextTurn } from "node:timers/promises";

/** How long work on a large document runs before it yields. */
const sliceMs = 8;

/** @returns a function to call between steps; it yields to the event loop after `sliceMs` */
export function createPause(): () => Promise<void> {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < sliceMs) return;
    await nextTurn();
    since = performance.now();
  };
}
