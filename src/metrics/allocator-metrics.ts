/**
 * The metrics of addresses and node ports of Services. Sources, in k8s.io/kubernetes@v1.36.0/pkg/registry/core/service:
 * ipallocator/metrics.go, portallocator/metrics.go and portallocator/controller/metrics.go.
 */
import type { AllocationObserver, PortRepairObserver, RangeUse } from "../admission/contract.ts";
import { labelFormatter, type Metric, type Sample } from "./exposition.ts";
import { Counters, Histograms } from "./vectors.ts";

/** Records allocations for Services. */
export interface AllocatorMetrics {
  readonly observer: AllocationObserver;
  readonly portRepair: PortRepairObserver;
  collect(): Metric[];
}

const secondsBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const addressPrefix = "kube_apiserver_clusterip_allocator_";
const portPrefix = "kube_apiserver_nodeport_allocator_";

type ReadUse = Parameters<AllocationObserver["follow"]>[0];

/** @returns metrics without an allocation */
export function allocatorMetrics(): AllocatorMetrics {
  const addresses = { allocated: new Counters(), failed: new Counters(), durations: new Histograms(secondsBounds) };
  const ports = { allocated: new Counters(), failed: new Counters() };
  const portErrors = new Counters();
  let failedRepairs = 0;
  let use: ReadUse = () => ({ addresses: new Map(), ports: undefined });
  const addressLabels = labelFormatter(["cidr", "scope"]);
  const rangeLabels = labelFormatter(["cidr"]);
  const scopeLabels = labelFormatter(["scope"]);
  const typeLabels = labelFormatter(["type"]);
  return {
    observer: {
      addressAllocated(range, scope, seconds) {
        addresses.allocated.count(addressLabels(range, scope));
        addresses.durations.observe(rangeLabels(range), seconds);
      },
      addressFailed: (range, scope) => addresses.failed.count(addressLabels(range, scope)),
      portAllocated: (scope) => ports.allocated.count(scopeLabels(scope)),
      portFailed: (scope) => ports.failed.count(scopeLabels(scope)),
      follow(read) {
        use = read;
      },
    },
    portRepair: {
      found: (error) => portErrors.count(typeLabels(error)),
      failed: () => void failedRepairs++,
    },
    collect() {
      return [
        ...useMetrics(use(), rangeLabels),
        counter(`${addressPrefix}allocation_total`, "Allocated addresses.", addresses.allocated.samples()),
        counter(`${addressPrefix}allocation_errors_total`, "Failed allocations.", addresses.failed.samples()),
        {
          ...gauge(`${addressPrefix}allocation_duration_seconds`, "Time until an allocated address is stored.", []),
          type: "histogram",
          samples: addresses.durations.samples(),
        },
        counter(`${portPrefix}allocation_total`, "Allocated node ports.", ports.allocated.samples()),
        counter(`${portPrefix}allocation_errors_total`, "Failed allocations of node ports.", ports.failed.samples()),
        counter(
          "apiserver_nodeport_repair_port_errors_total",
          "Wrong node ports that were found.",
          portErrors.samples(),
        ),
        counter("apiserver_nodeport_repair_reconcile_errors_total", "Failed repairs of node ports.", [
          sample(failedRepairs),
        ]),
      ];
    },
  };
}

/** How much of the ranges is in use. */
function useMetrics({ addresses, ports }: ReturnType<ReadUse>, rangeLabels: (range: string) => string): Metric[] {
  const byRange = (value: (one: RangeUse) => number): Sample[] =>
    [...addresses].map(([range, one]) => ({ suffix: "", labels: rangeLabels(range), value: value(one) }));
  const ofPorts = (value: number | undefined): Sample[] => (value === undefined ? [] : [sample(value)]);
  const allocated = byRange((one) => one.allocated);
  const available = byRange((one) => one.available);
  return [
    gauge(`${addressPrefix}allocated_ips`, "Addresses of Services.", allocated),
    gauge(`${addressPrefix}available_ips`, "Free addresses for Services.", available),
    gauge(`${portPrefix}allocated_ports`, "Node ports of Services.", ofPorts(ports?.allocated)),
    gauge(`${portPrefix}available_ports`, "Free node ports.", ofPorts(ports?.available)),
  ];
}

const sample = (value: number): Sample => ({ suffix: "", labels: "", value });

function gauge(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: "gauge", stability: "ALPHA", help, samples };
}

function counter(name: string, help: string, samples: readonly Sample[]): Metric {
  return { name, type: "counter", stability: "ALPHA", help, samples };
}
