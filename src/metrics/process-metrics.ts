/** The standard process metrics of Prometheus clients. */
import { readdirSync, readFileSync } from "node:fs";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { single } from "./vectors.ts";

export const processRows = {
  cpu: {
    name: "process_cpu_seconds_total",
    type: "counter",
    stability: undefined,
    help: "User and system CPU time in seconds.",
  },
  resident: {
    name: "process_resident_memory_bytes",
    type: "gauge",
    stability: undefined,
    help: "Resident memory in bytes.",
  },
  start: {
    name: "process_start_time_seconds",
    type: "gauge",
    stability: undefined,
    help: "Start time of the process in seconds since 1970.",
  },
  virtual: {
    name: "process_virtual_memory_bytes",
    type: "gauge",
    stability: undefined,
    help: "Virtual memory in bytes.",
  },
  descriptors: {
    name: "process_open_fds",
    type: "gauge",
    stability: undefined,
    help: "Open file descriptors.",
  },
  descriptorsMax: {
    name: "process_max_fds",
    type: "gauge",
    stability: undefined,
    help: "Maximum number of open file descriptors.",
  },
} as const satisfies MetricRows;

/** @param startedAt the start of the process, in seconds since 1970 */
export function processMetrics(startedAt: number): Metric[] {
  const { user, system } = process.cpuUsage();
  const metrics = [
    single(processRows.cpu, (user + system) / 1e6),
    single(processRows.resident, process.memoryUsage.rss()),
    processStart(startedAt),
  ];
  return process.platform === "linux" ? [...metrics, ...linuxMetrics()] : metrics;
}

/** @param startedAt the start of the process, in seconds since 1970 */
export function processStart(startedAt: number): Metric {
  return single(processRows.start, startedAt);
}

function linuxMetrics(): Metric[] {
  const virtualPages = Number(readFileSync("/proc/self/statm", "utf8").split(" ")[0]);
  const descriptorsMax = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  return [
    single(processRows.virtual, virtualPages * 4096),
    single(processRows.descriptors, readdirSync("/proc/self/fd").length),
    ...(descriptorsMax === undefined ? [] : [single(processRows.descriptorsMax, Number(descriptorsMax))]),
  ];
}
