/** What follows from a service's type and the fields beside it. Source: kubernetes pkg/api/service. */
import { items, type Part } from "../../fields.ts";

export const hintsAnnotation = "service.kubernetes.io/topology-aware-hints";
export const modeAnnotation = "service.kubernetes.io/topology-mode";

/** What stands in the place of an address where there is none. */
export const noAddress = "None";

export const needsAddress = (spec: Part): boolean => spec.type !== "ExternalName";

/** Ports of this type have node ports, unless told otherwise. */
export const mayHaveNodePorts = (spec: Part): boolean => spec.type === "NodePort" || spec.type === "LoadBalancer";

export const needsNodePorts = (spec: Part): boolean =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);

export const needsHealthCheck = (spec: Part): boolean =>
  spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";

export const isReachedFromOutside = (spec: Part): boolean =>
  mayHaveNodePorts(spec) || (spec.type === "ClusterIP" && items(spec.externalIPs).length > 0);

export const isHeadless = (spec: Part): boolean => clusterIps(spec).length === 1 && spec.clusterIPs[0] === noAddress;

export const clusterIps = (spec: Part): readonly string[] => spec.clusterIPs ?? [];

export const ipFamilies = (spec: Part): readonly string[] => spec.ipFamilies ?? [];

/** Text by text. */
export const sameTexts = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, index) => text === b[index]);
