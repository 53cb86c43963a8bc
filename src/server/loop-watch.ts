/** Watches the event loop of a server: a metric and a log line when it was blocked. */
import type { Logger } from "../apimachinery/logger.ts";
import type { Block } from "../http/listener/loop-watch.ts";
import { LoopWatch, tickMs } from "../http/listener/loop-watch.ts";
import { eventLoopMetric } from "../metrics/event-loop-metric.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";

/** The time between two log lines; blocks between them are counted. */
const logMs = 60_000;
/** Longer paths are cut in the log. */
const pathMax = 200;

/** @returns the observer of requests; the timer ends with the server */
export function watchLoop(
  logger: Logger,
  { metrics, closers }: { readonly metrics: Pick<ServerMetrics, "add">; readonly closers: Closers },
): LoopWatch {
  const metric = eventLoopMetric();
  metrics.add(metric.collect);
  const log = blockLogger(logger, () => performance.now());
  const watch = new LoopWatch(
    () => performance.now(),
    (block) => {
      metric.blocked(block.blockedMs / 1000);
      log(block);
    },
  );
  const timer = setInterval(() => watch.tick(), tickMs).unref();
  closers.add(() => clearInterval(timer));
  return watch;
}

/**
 * Logs a block, at most one each minute, with the path of the request, but without its query.
 *
 * @param now milliseconds since any fixed time
 */
export function blockLogger(logger: Logger, now: () => number): (block: Block) => void {
  let loggedAt = Number.NEGATIVE_INFINITY;
  let omitted = 0;
  return ({ blockedMs, exchange }) => {
    if (now() - loggedAt < logMs) {
      omitted++;
      return;
    }
    loggedAt = now();
    // Not a warning: a program that embeds the server shares its event loop.
    logger.info("Event loop was blocked", {
      blockedMs: Math.round(blockedMs),
      ...(exchange !== undefined && { method: exchange.method, path: pathOf(exchange.target) }),
      ...(omitted > 0 && { othersSinceLastLog: omitted }),
    });
    omitted = 0;
  };
}

function pathOf(target: string): string {
  const end = target.indexOf("?");
  return target.slice(0, Math.min(end < 0 ? target.length : end, pathMax));
}
