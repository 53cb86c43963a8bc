/**
 * Functions that run synchronously until they have to wait, and otherwise read like async ones: a
 * request that waits for nothing creates no promises.
 */

/** A generator that yields each promise that it waits for. */
export type Steps<T> = Generator<Promise<unknown>, T, unknown>;

/** Waits for a promise within steps: `const value = yield* wait(promise)`. */
export function* wait<T>(promise: Promise<T>): Steps<T> {
  return (yield promise) as T;
}

/** Runs steps. @returns a promise only if they wait; it rejects, and this throws, as they do */
export function runSteps<T>(steps: Steps<T>): T | Promise<T> {
  const first = steps.next();
  return first.done === true ? first.value : finish(steps, first.value);
}

async function finish<T>(steps: Steps<T>, waiting: Promise<unknown>): Promise<T> {
  let next: IteratorResult<Promise<unknown>, T>;
  try {
    next = steps.next(await waiting);
  } catch (error) {
    next = steps.throw(error);
  }
  return next.done === true ? next.value : finish(steps, next.value);
}
