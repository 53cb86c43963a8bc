/**
 * Spreads a flood of requests of one connection over turns of the event loop.
 *
 * A request that its client resets before its turn is neither audited nor counted, because no filter has it yet. Go's
 * server, too, never starts the handlers of such requests (`handlerDone` in golang.org/x/net@v0.49.0/http2/server.go),
 * but there a request waits only while as many handlers run as a connection may have streams. So upstream audits some
 * requests of such a flood that are dropped here. None of them has had an effect.
 */

/** Requests of a connection that begin in one turn. */
const beginsMax = 32;

interface WaitingStream {
  readonly closed: boolean;
  readonly destroyed: boolean;
  on(event: "error", listener: () => void): unknown;
}

/**
 * Begins streams at once, up to 32 in a turn of the event loop; further ones wait for the next turns, in their order, so
 * that other connections are served between them. A stream that has ended before its turn never begins.
 *
 * @param begin receives the arguments
 */
export function beginInTurns<Args extends [stream: WaitingStream, ...unknown[]]>(
  begin: (...args: Args) => void,
): (...args: Args) => void {
  const waiting: Args[] = [];
  let begun = 0;
  const nextTurn = (): void => {
    begun = 0;
    const calls = waiting.splice(0).filter(([stream]) => !stream.closed && !stream.destroyed);
    waiting.push(...calls.slice(beginsMax));
    for (const args of calls.slice(0, beginsMax)) beginNow(args);
  };
  const beginNow = (args: Args): void => {
    if (begun++ === 0) setImmediate(nextTurn);
    begin(...args);
  };
  return (...args) => {
    if (begun < beginsMax && waiting.length === 0) return beginNow(args);
    args[0].on("error", () => {}); // Of a connection that breaks; an exchange has its own listener.
    waiting.push(args);
  };
}
