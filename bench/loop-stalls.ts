/**
 * Finds the longest time in which an event loop did nothing else, in CPU time of its thread, so that other processes do not
 * count, and without collections of garbage. The loop spins while it is watched.
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
  readonly endMs: number;
  cpuMs: number;
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
      if (during !== undefined) during.cpuMs -= duration;
    }
  };
  const collections = new PerformanceObserver((list) => subtract(list.getEntries()));
  collections.observe({ entryTypes: ["gc"] });
  const settle = (keep: number): void => {
    subtract(collections.takeRecords());
    for (const { cpuMs } of turns.slice(0, -keep || undefined)) longestMs = Math.max(longestMs, cpuMs);
    turns = turns.slice(-keep);
  };
  let before = threadCpuMs();
  const turn = (): void => {
    const cpu = threadCpuMs();
    turns.push({ endMs: performance.now(), cpuMs: cpu - before });
    before = cpu;
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
