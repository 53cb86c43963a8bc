/**
 * Coalesces concurrent calls: calls during a run share the next one.
 * @returns a function whose result is that of a run that started after the call
 */
export function sharedRun<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const start = async (): Promise<T> => {
    await Promise.allSettled([current]); // Its callers receive its error.
    next = undefined;
    const running = run();
    current = running;
    return running;
  };
  return () => {
    next ??= start();
    return next;
  };
}
