/**
 * How long after the answer to a write its event reaches a watcher on another connection: controllers read what they have
 * written from their caches, which should not be older than the answer.
 */
import { BenchClient, type Target } from "./client.ts";

const updates = 300;
const map = "/api/v1/namespaces/default/configmaps/delay";
const watch = "/api/v1/namespaces/default/configmaps?watch=1&fieldSelector=metadata.name%3Ddelay";

/** Times of an event after the answer to its write, sorted; negative when the event was first. */
export interface EventDelay {
  readonly p50Ms: number;
  readonly p95Ms: number;
  /** How many of all events came after their answers. */
  readonly later: number;
  readonly events: number;
}

/** Updates an object repeatedly, each time after the event of the update before. */
export async function eventDelay(target: Target): Promise<EventDelay> {
  const [writer, watcher] = [new BenchClient(target), new BenchClient(target)];
  const put = (method: string, path: string, text: string): Promise<unknown> =>
    writer.send({ method, path, body: JSON.stringify({ metadata: { name: "delay" }, data: { text } }) });
  await put("POST", map.slice(0, map.lastIndexOf("/")), "0");
  let seen = (_at: number): void => {};
  const nextEvent = (): Promise<number> =>
    new Promise((resolve) => {
      seen = resolve;
    });
  const first = nextEvent();
  watcher.follow(watch, () => seen(performance.now()));
  await first;
  const delays: number[] = [];
  for (let update = -20; update < updates; update++) {
    const event = nextEvent();
    await put("PUT", map, String(update));
    const answeredAt = performance.now();
    const delayMs = (await event) - answeredAt;
    if (update >= 0) delays.push(delayMs);
  }
  writer.close();
  watcher.close();
  delays.sort((a, b) => a - b);
  const quantile = (q: number): number => delays[Math.floor((delays.length - 1) * q)] ?? 0;
  return {
    p50Ms: quantile(0.5),
    p95Ms: quantile(0.95),
    later: delays.filter((delay) => delay > 0).length,
    events: delays.length,
  };
}
