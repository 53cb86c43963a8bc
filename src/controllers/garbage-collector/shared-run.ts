/** Lets callers that come while a run is under way share the next one. @returns each caller's answer is of a run that began after the call */
export function sharedRun<T>(run: () => Promise<T>): () => Promise<T> {
  let current: Promise<unknown> = Promise.resolve();
  let next: Promise<T> | undefined;
  const start = async (): Promise<T> => {
    await Promise.allSettled([current]); // How it ended is told to those who share it.
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
