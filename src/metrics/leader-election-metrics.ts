/**
 * The metrics of leader elections.
 * Source: k8s.io/component-base@v0.36.0/metrics/prometheus/clientgo/leaderelection/metrics.go.
 */
import { formatLabels, type Metric } from "./exposition.ts";

/** Records the results of elections. */
export interface LeaderElectionMetrics {
  /** @param name of the lock */
  isLeader(name: string, leads: boolean): void;
  slowPath(name: string): void;
  collect(): Metric[];
}

/** @returns empty metrics */
export function leaderElectionMetrics(): LeaderElectionMetrics {
  const leading = new Map<string, number>();
  const slow = new Map<string, number>();
  const samples = (values: ReadonlyMap<string, number>): Metric["samples"] =>
    Array.from(values, ([name, value]) => ({ suffix: "", labels: formatLabels(["name"], [name]), value }));
  return {
    isLeader: (name, leads) => void leading.set(name, leads ? 1 : 0),
    slowPath: (name) => void slow.set(name, (slow.get(name) ?? 0) + 1),
    collect: () => [
      {
        name: "leader_election_master_status",
        type: "gauge",
        stability: "ALPHA",
        help: "1 while this server holds the lease, 0 otherwise.",
        samples: samples(leading),
      },
      {
        name: "leader_election_slowpath_total",
        type: "counter",
        stability: "ALPHA",
        help: "Renewals of leases that had to read the lease first.",
        samples: samples(slow),
      },
    ],
  };
}
