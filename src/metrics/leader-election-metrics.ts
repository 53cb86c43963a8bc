/**
 * The metrics of leader elections.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/clientgo/leaderelection/metrics.go.
 */
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, measured } from "./vectors.ts";

export const leaderElectionRows = {
  leading: {
    name: "leader_election_master_status",
    type: "gauge",
    stability: "ALPHA",
    help: "1 while this server holds the lease, 0 otherwise.",
    labels: ["name"],
  },
  slow: {
    name: "leader_election_slowpath_total",
    type: "counter",
    stability: "ALPHA",
    help: "Renewals of leases that had to read the lease first.",
    labels: ["name"],
  },
} as const satisfies MetricRows;

/** Records the results of elections. */
export interface LeaderElectionMetrics {
  /** @param name of the lock */
  isLeader(name: string, leads: boolean): void;
  slowPath(name: string): void;
  collect(): Metric[];
}

/** @returns empty metrics */
export function leaderElectionMetrics(): LeaderElectionMetrics {
  const leading = new Map<string, boolean>();
  const slow = new Counters(leaderElectionRows.slow);
  return {
    isLeader: (name, leads) => void leading.set(name, leads),
    slowPath: (name) => slow.count([name]),
    collect: () => [
      measured(
        leaderElectionRows.leading,
        Array.from(leading, ([name, leads]) => [[name], leads ? 1 : 0] as const),
      ),
      slow.metric(),
    ],
  };
}
