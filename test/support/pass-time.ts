/** Lets virtual time pass for work over sockets of this process. */
import assert from "node:assert/strict";
import { mock } from "node:test";

const tickMs = 500;
/** Turns of the event loop between two ticks: sockets deliver in a few. */
const turns = 20;

/**
 * Lets time pass until all calls have ended, whether they succeed or not. The mock timers must be enabled.
 * @throws AssertionError when calls are open after `msMax`
 */
export async function passTime(
  calls: readonly Promise<unknown>[],
  { msMax }: { readonly msMax: number },
): Promise<void> {
  let open = calls.length;
  const ended = (): void => void open--;
  for (const call of calls) call.then(ended, ended);
  for (let passedMs = 0; open > 0; passedMs += tickMs) {
    assert.ok(passedMs < msMax, `${open} of ${calls.length} calls do not end in ${msMax} ms`);
    for (let turn = 0; turn < turns && open > 0; turn++) await new Promise((resolve) => setImmediate(resolve));
    if (open > 0) mock.timers.tick(tickMs);
  }
}
