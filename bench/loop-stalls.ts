/**
 * Finds the longest time in which an event loop did nothing else, in CPU time of its thread, so that other processes do not
 * count, and without the share of collections of garbage. The loop spins while it is watched.
 */
import { type PerformanceEntry, PerformanceObserver, performance } from "node:perf_hooks";

/** The longest turn of an event loop. */
export interface Stall {
  /** CPU time without garbage collections, in milliseconds. */
  readonly cpuMs: number;
  /** The longest collection of garbage, in milliseconds. */
  readonly gcMs: number;
}

interface Turn {
  readonly startMs: number;
  readonly endMs: number;
  readonly cpuMs: number;
  /** Of collections of garbage, in milliseconds of real time. */
  gcMs: number;
}

/** Node.js reports a collection of garbage within so many turns. */
const turnsKept = 4;

/** Watches the loop of this thread. @returns ends it */
export function watchLoop(): () => Stall {
  let [longestMs, longestGcMs] = [0, 0];
  let turns: Turn[] = [];
  const subtract = (entries: readonly PerformanceEntry[]): void => {
    for (const { startTime, duration } of entries) {
      longestGcMs = Math.max(longestGcMs, duration);
      const during = turns.find(({ endMs }) => startTime <= endMs);
      if (during !== undefined) during.gcMs += duration;
    }
  };
  const collections = new PerformanceObserver((list) => subtract(list.getEntries()));
  collections.observe({ entryTypes: ["gc"] });
  const settle = (keep: number): void => {
    subtract(collections.takeRecords());
    for (const { startMs, endMs, cpuMs, gcMs } of turns.slice(0, -keep || undefined))
      longestMs = Math.max(longestMs, cpuMs * Math.max(1 - gcMs / (endMs - startMs), 0));
    turns = turns.slice(-keep);
  };
  let [startMs, cpuBefore] = [performance.now(), threadCpuMs()];
  const turn = (): void => {
    const [endMs, cpu] = [performance.now(), threadCpuMs()];
    turns.push({ startMs, endMs, cpuMs: cpu - cpuBefore, gcMs: 0 });
    [startMs, cpuBefore] = [endMs, cpu];
    settle(turnsKept);
    next = setImmediate(turn);
  };
  let next = setImmediate(turn);
  return () => {
    clearImmediate(next);
    settle(0);
    collections.disconnect();
    return { cpuMs: longestMs, gcMs: longestGcMs };
  };
}

function threadCpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
