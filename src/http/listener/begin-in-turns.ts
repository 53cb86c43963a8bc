/** Spreads a flood of requests of one connection over turns of the event loop. */

/** Requests of a connection that begin in one turn. */
const beginsMax = 32;

/**
 * Runs callers at once, up to 32 in a turn of the event loop; further ones wait for the next turns, in their order, so
 * that other connections are served between them.
 *
 * @param begin receives each item
 * @param isOver whether an item that has waited needs no work any more
 */
export function beginInTurns<T>(begin: (item: T) => void, isOver: (item: T) => boolean): (item: T) => void {
  const waiting: T[] = [];
  let begun = 0;
  const nextTurn = (): void => {
    begun = 0;
    const items = waiting.splice(0).filter((item) => !isOver(item));
    waiting.push(...items.slice(beginsMax));
    for (const item of items.slice(0, beginsMax)) beginNow(item);
  };
  const beginNow = (item: T): void => {
    if (begun++ === 0) setImmediate(nextTurn);
    begin(item);
  };
  return (item) => {
    if (begun < beginsMax && waiting.length === 0) beginNow(item);
    else waiting.push(item);
  };
}
