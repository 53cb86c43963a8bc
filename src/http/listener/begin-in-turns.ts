/** Spreads a flood of requests of one connection over turns of the event loop. */

/** Requests of a connection that begin in one turn. */
const beginsMax = 32;

/**
 * Runs callers at once, up to 32 in a turn of the event loop; further ones wait for the next turns, in their order, so
 * that other connections are served between them.
 *
 * @param begin receives the arguments
 * @param isOver whether a call that has waited needs no work any more
 */
export function beginInTurns<Args extends unknown[]>(
  begin: (...args: Args) => void,
  isOver: (...args: Args) => boolean,
): (...args: Args) => void {
  const waiting: Args[] = [];
  let begun = 0;
  const nextTurn = (): void => {
    begun = 0;
    const calls = waiting.splice(0).filter((args) => !isOver(...args));
    waiting.push(...calls.slice(beginsMax));
    for (const args of calls.slice(0, beginsMax)) beginNow(args);
  };
  const beginNow = (args: Args): void => {
    if (begun++ === 0) setImmediate(nextTurn);
    begin(...args);
  };
  return (...args) => {
    if (begun < beginsMax && waiting.length === 0) beginNow(args);
    else waiting.push(args);
  };
}
