/**
 * What a Service uses: node ports and load balancers.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/quota/v1/evaluator/core/services.go.
 */

import type { KubeObject } from "../../apimachinery/object.ts";
import { items, type Part } from "../../apis/fields.ts";
import { type Quantity, zeroQuantity } from "../../lib/quantity/quantity.ts";
import { one } from "./amounts.ts";
import type { Amounts, Evaluator } from "./contract.ts";

const names = ["count/services", "services", "services.nodeports", "services.loadbalancers"];

/** The evaluator of services. */
export const services: Evaluator = {
  handles: ({ subresource }) => subresource === "",
  matches: (name) => names.includes(name),
  usageOf: serviceUsage,
};

function serviceUsage({ spec }: KubeObject): Amounts {
  return new Map<string, Quantity>([
    ["count/services", one],
    ["services", one],
    ["services.nodeports", countOf(nodePorts(spec ?? {}))],
    ["services.loadbalancers", spec?.type === "LoadBalancer" ? one : zeroQuantity],
  ]);
}

/** Ports are counted before they are allocated. */
function nodePorts({ type, ports, allocateLoadBalancerNodePorts }: Part): number {
  if (type !== "NodePort" && type !== "LoadBalancer") return 0;
  const all = items(ports);
  if (type === "NodePort" || allocateLoadBalancerNodePorts !== false) return all.length;
  return all.filter(({ nodePort = 0 }) => Number(nodePort) !== 0).length;
}

const countOf = (count: number): Quantity => ({ mantissa: BigInt(count), exponent: 0, format: "DecimalSI" });
