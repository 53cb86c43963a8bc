/**
 * The metrics of addresses and node ports of Services. Sources, in k8s.io/kubernetes@v1.36.0/pkg/registry/core/service:
 * ipallocator/metrics.go, portallocator/metrics.go and portallocator/controller/metrics.go.
 */
import type { AllocationObserver, PortRepairObserver, RangeUse } from "../admission/contract.ts";
import type { Metric } from "./exposition.ts";
import type { MetricRows } from "./metric-row.ts";
import { Counters, Histograms, measured, single } from "./vectors.ts";

export const allocatorRows = {
  addressesAllocated: {
    name: "kube_apiserver_clusterip_allocator_allocated_ips",
    type: "gauge",
    stability: "ALPHA",
    help: "Addresses of Services.",
    labels: ["cidr"],
  },
  addressesAvailable: {
    name: "kube_apiserver_clusterip_allocator_available_ips",
    type: "gauge",
    stability: "ALPHA",
    help: "Free addresses for Services.",
    labels: ["cidr"],
  },
  addressAllocations: {
    name: "kube_apiserver_clusterip_allocator_allocation_total",
    type: "counter",
    stability: "ALPHA",
    help: "Allocated addresses.",
    labels: ["cidr", "scope"],
  },
  addressErrors: {
    name: "kube_apiserver_clusterip_allocator_allocation_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Failed allocations.",
    labels: ["cidr", "scope"],
  },
  addressDurations: {
    name: "kube_apiserver_clusterip_allocator_allocation_duration_seconds",
    type: "histogram",
    stability: "ALPHA",
    help: "Time until an allocated address is stored.",
    labels: ["cidr"],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  portsAllocated: {
    name: "kube_apiserver_nodeport_allocator_allocated_ports",
    type: "gauge",
    stability: "ALPHA",
    help: "Node ports of Services.",
  },
  portsAvailable: {
    name: "kube_apiserver_nodeport_allocator_available_ports",
    type: "gauge",
    stability: "ALPHA",
    help: "Free node ports.",
  },
  portAllocations: {
    name: "kube_apiserver_nodeport_allocator_allocation_total",
    type: "counter",
    stability: "ALPHA",
    help: "Allocated node ports.",
    labels: ["scope"],
  },
  portErrors: {
    name: "kube_apiserver_nodeport_allocator_allocation_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Failed allocations of node ports.",
    labels: ["scope"],
  },
  repairErrors: {
    name: "apiserver_nodeport_repair_port_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Wrong node ports that were found.",
    labels: ["type"],
  },
  failedRepairs: {
    name: "apiserver_nodeport_repair_reconcile_errors_total",
    type: "counter",
    stability: "ALPHA",
    help: "Failed repairs of node ports.",
  },
} as const satisfies MetricRows;

/** Records allocations for Services. */
export interface AllocatorMetrics {
  readonly observer: AllocationObserver;
  readonly portRepair: PortRepairObserver;
  collect(): Metric[];
}

/** @returns metrics without an allocation */
export function allocatorMetrics(): AllocatorMetrics {
  const addressAllocations = new Counters(allocatorRows.addressAllocations);
  const addressErrors = new Counters(allocatorRows.addressErrors);
  const addressDurations = new Histograms(allocatorRows.addressDurations);
  const portAllocations = new Counters(allocatorRows.portAllocations);
  const portErrors = new Counters(allocatorRows.portErrors);
  const repairErrors = new Counters(allocatorRows.repairErrors);
  let failedRepairs = 0;
  let use: ReadUse = () => ({ addresses: new Map(), ports: undefined });
  return {
    observer: {
      addressAllocated(range, scope, seconds) {
        addressAllocations.count([range, scope]);
        addressDurations.observe([range], seconds);
      },
      addressFailed: (range, scope) => addressErrors.count([range, scope]),
      portAllocated: (scope) => portAllocations.count([scope]),
      portFailed: (scope) => portErrors.count([scope]),
      follow(read) {
        use = read;
      },
    },
    portRepair: {
      found: (error) => repairErrors.count([error]),
      failed: () => void failedRepairs++,
    },
    collect: () => [
      ...useMetrics(use()),
      ...[addressAllocations, addressErrors, addressDurations].map((one) => one.metric()),
      ...[portAllocations, portErrors, repairErrors].map((one) => one.metric()),
      single(allocatorRows.failedRepairs, failedRepairs),
    ],
  };
}

type ReadUse = Parameters<AllocationObserver["follow"]>[0];

function useMetrics({ addresses, ports }: ReturnType<ReadUse>): Metric[] {
  const inRanges = (value: (use: RangeUse) => number) =>
    Array.from(addresses, ([range, use]) => [[range], value(use)] as const);
  const ofPorts = (value: (use: RangeUse) => number) => (ports === undefined ? [] : [[[], value(ports)] as const]);
  return [
    measured(
      allocatorRows.addressesAllocated,
      inRanges(({ allocated }) => allocated),
    ),
    measured(
      allocatorRows.addressesAvailable,
      inRanges(({ available }) => available),
    ),
    measured(
      allocatorRows.portsAllocated,
      ofPorts(({ allocated }) => allocated),
    ),
    measured(
      allocatorRows.portsAvailable,
      ofPorts(({ available }) => available),
    ),
  ];
}
