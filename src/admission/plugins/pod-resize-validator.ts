/**
 * The plugin PodResizeValidator rejects a resize of a pod to more than its node has, or on a node
 * that cannot resize pods. Source:
 * k8s.io/kubernetes@v1.36.0/plugin/pkg/admission/podresize/admission.go.
 */
import type { ApiError } from "../../apimachinery/errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { sumOfContainers } from "../../apis/core/pod/sum-of-containers.ts";
import type { Part } from "../../apis/fields.ts";
import type { Catalog } from "../../catalog/contract.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import {
  addQuantities,
  compareQuantities,
  integerValue,
  milliValue,
  parseQuantity,
  type Quantity,
  zeroQuantity,
} from "../../lib/quantity/quantity.ts";
import type { AdmissionAttributes } from "../../registry/admission-attributes.ts";
import type { AdmissionPlugin } from "../contract.ts";
import { lookUp } from "../lookup.ts";
import { rejection } from "../rejection.ts";

/** What the plugin needs of a node. */
interface ResizingNode {
  readonly name: string;
  /** The label `kubernetes.io/os`. */
  readonly os: string | undefined;
  readonly allocatable: Readonly<Record<Counted, Quantity>>;
}

type Counted = "cpu" | "memory";

/** @returns the plugin PodResizeValidator */
export function podResizeValidator(catalog: Pick<Catalog, "findResource">): AdmissionPlugin {
  const nodes = lookUp(catalog, { group: "", resource: "nodes" }, resizingNode);
  const checkNodeNamed = async (name: string, attributes: AdmissionAttributes): Promise<void> => {
    const node = await nodes.find("", name);
    if (node === undefined) throw rejection(attributes, `node ${quoteGo(name)} not found`);
    checkNode(attributes, attributes.object?.spec, node);
  };
  return {
    name: "PodResizeValidator",
    validate(attributes) {
      const { target, subresource, operation, object, oldObject } = attributes;
      const { group, resource } = target.resource.definition;
      if (subresource !== "resize" || resource !== "pods" || group !== "" || operation !== "UPDATE") return;
      const name: string = object?.spec?.nodeName ?? "";
      if (name === "" || object?.metadata.generation === oldObject?.metadata.generation) return;
      return checkNodeNamed(name, attributes);
    },
  };
}

function resizingNode({ metadata, status }: KubeObject): ResizingNode {
  const amountOf = (resource: Counted): Quantity => quantityIn(status?.allocatable, resource) ?? zeroQuantity;
  return {
    name: metadata.name ?? "",
    os: metadata.labels?.["kubernetes.io/os"],
    allocatable: { cpu: amountOf("cpu"), memory: amountOf("memory") },
  };
}

function quantityIn(amounts: Part | undefined, name: string): Quantity | undefined {
  return amounts !== undefined && Object.hasOwn(amounts, name) ? parseQuantity(amounts[name]) : undefined;
}

function checkNode(attributes: AdmissionAttributes, spec: Part, { name, os, allocatable }: ResizingNode): void {
  const reject = (reason: string, why: string): ApiError => rejection(attributes, why, [{ reason }]);
  if (os !== undefined && os !== "linux") {
    const why = `pod resize is only supported on linux nodes, node ${quoteGo(name)} is ${quoteGo(os)}`;
    throw reject("UnsupportedPlatform", why);
  }
  const units = [
    ["cpu", milliValue],
    ["memory", integerValue],
  ] as const;
  const problems = units.flatMap(([resource, valueIn]) => {
    const [requested, limit] = [requestOf(spec, resource), allocatable[resource]];
    if (compareQuantities(requested, limit) <= 0) return [];
    return [`${resource}, requested: ${valueIn(requested)}, allocatable: ${valueIn(limit)}`];
  });
  if (problems.length === 0) return;
  throw reject("NodeCapacity", `node didn't have enough allocatable resources: ${problems.join("; ")}`);
}

/** The request of the whole pod: its own or that of its containers, and its overhead. */
function requestOf(spec: Part, resource: Counted): Quantity {
  const own = quantityIn(spec.resources?.requests, resource);
  const request = own ?? sumOfContainers(spec, "requests").get(resource) ?? zeroQuantity;
  return addQuantities(request, quantityIn(spec.overhead, resource) ?? zeroQuantity);
}
