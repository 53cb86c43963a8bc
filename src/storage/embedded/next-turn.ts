/** Resolves in the next turn of the event loop, after other ready callbacks. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
