/** What Prometheus' own clients say of a process. */
import { readdirSync, readFileSync } from "node:fs";
import type { Metric } from "./exposition.ts";

/** @param startedAt seconds since 1970 */
export function processMetrics(startedAt: number): Metric[] {
  const { user, system } = process.cpuUsage();
  const metrics = [
    one("process_cpu_seconds_total", "counter", "User and system CPU of the process.", (user + system) / 1e6),
    one("process_resident_memory_bytes", "gauge", "Memory the process has in RAM.", process.memoryUsage.rss()),
    processStart(startedAt),
  ];
  return process.platform === "linux" ? [...metrics, ...linuxMetrics()] : metrics;
}

/** @param startedAt seconds since 1970 */
export function processStart(startedAt: number): Metric {
  return one("process_start_time_seconds", "gauge", "When the process started, in seconds since 1970.", startedAt);
}

function linuxMetrics(): Metric[] {
  const virtualPages = Number(readFileSync("/proc/self/statm", "utf8").split(" ")[0]);
  const descriptorsMax = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "utf8"))?.[1];
  const metrics = [
    one("process_virtual_memory_bytes", "gauge", "Address space of the process.", virtualPages * 4096),
    one("process_open_fds", "gauge", "Open file descriptors.", readdirSync("/proc/self/fd").length),
  ];
  if (descriptorsMax !== undefined)
    metrics.push(one("process_max_fds", "gauge", "How many file descriptors may be open.", Number(descriptorsMax)));
  return metrics;
}

function one(name: string, type: Metric["type"], help: string, value: number): Metric {
  return { name, type, stability: undefined, help, samples: [{ suffix: "", labels: "", value }] };
}
