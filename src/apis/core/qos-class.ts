/** How a pod is served when a node runs short. Source: core/v1 helper/qos. */
import { parseQuantity } from "../../lib/quantity/quantity.ts";
import { items, type Part } from "../fields.ts";

const counted = ["cpu", "memory"];
const isZero = (quantity: unknown): boolean => parseQuantity(String(quantity)).mantissa === 0n;

/** Guaranteed: every container limits cpu and memory and requests as much. BestEffort: none asks for anything. Burstable: the rest. */
export function qosClass(spec: Part): "Guaranteed" | "Burstable" | "BestEffort" {
  const containers = [...items(spec.containers), ...items(spec.initContainers)].map((container) => container.resources ?? {});
  const asked = (list: Part | undefined): string[] => counted.filter((name) => list?.[name] !== undefined && !isZero(list[name]));
  if (containers.every(({ requests, limits }) => asked(requests).length === 0 && asked(limits).length === 0)) return "BestEffort";
  const guaranteed = containers.every(
    ({ requests, limits }) => asked(limits).length === counted.length && asked(requests).every((name) => requests[name] === limits[name]),
  );
  return guaranteed ? "Guaranteed" : "Burstable";
}
