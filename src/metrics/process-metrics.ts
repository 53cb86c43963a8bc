/** The standard process metrics of Prometheus clients. */
import { readdirSync, readFileSync } from "node:fs";
import type { Metric } from "./exposition.ts";

/** @param startedAt the start of the process, in seconds since 1970 */
export function processMetrics(startedAt: number): Metric[] {
  const { user, system } = process.cpuUsage();
  const metrics = [
    one("process_cpu_seconds_total", "counter", "User and system CPU time in seconds.", (user + system) / 1e6),
    one("process_resident_memory_bytes", "gauge", "Resident memory in bytes.", process.memoryUsage.rss()),
    processStart(startedAt),
  ];
  return process.platform === "linux" ? [...metrics, ...linuxMetrics()] : metrics;
}

/** @param startedAt the start of the process, in seconds since 1970 */
export function processStart(startedAt: number): Metric {
  return one("process_start_time_seconds", "gauge", "Start time of the process in seconds since 1970.", startedAt);
}

function linuxMetrics(): Metric[] {
  const virtualPages = Number(readFileSync("/proc/self/statm", "utf8").split(" ")[0]);
  const descriptorsMax = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  const metrics = [
    one("process_virtual_memory_bytes", "gauge", "Virtual memory in bytes.", virtualPages * 4096),
    one("process_open_fds", "gauge", "Open file descriptors.", readdirSync("/proc/self/fd").length),
  ];
  if (descriptorsMax !== undefined)
    metrics.push(one("process_max_fds", "gauge", "Maximum number of open file descriptors.", Number(descriptorsMax)));
  return metrics;
}

function one(name: string, type: Metric["type"], help: string, value: number): Metric {
  return { name, type, stability: undefined, help, samples: [{ suffix: "", labels: "", value }] };
}
