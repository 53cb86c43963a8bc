/**
 * What the type and other fields of a service imply.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/service/util.go`.
 */
import { items, type Part } from "../../fields.ts";

export const hintsAnnotation = "service.kubernetes.io/topology-aware-hints";
export const modeAnnotation = "service.kubernetes.io/topology-mode";

/** `clusterIP` of headless services. */
export const noAddress = "None";

/** Whether services of this type have cluster IPs. */
export const needsAddress = (spec: Part): boolean => spec.type !== "ExternalName";

/** Whether services of this type can have node ports. */
export const mayHaveNodePorts = (spec: Part): boolean => spec.type === "NodePort" || spec.type === "LoadBalancer";

/** Whether each port gets a node port. */
export const needsNodePorts = (spec: Part): boolean =>
  spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);

export const needsHealthCheck = (spec: Part): boolean =>
  spec.type === "LoadBalancer" && spec.externalTrafficPolicy === "Local";

export const isReachedFromOutside = (spec: Part): boolean =>
  mayHaveNodePorts(spec) || (spec.type === "ClusterIP" && items(spec.externalIPs).length > 0);

export const isHeadless = (spec: Part): boolean => clusterIps(spec).length === 1 && spec.clusterIPs[0] === noAddress;

/** `clusterIPs`, empty if absent. */
export const clusterIps = (spec: Part): readonly string[] => spec.clusterIPs ?? [];

/** `ipFamilies`, empty if absent. */
export const ipFamilies = (spec: Part): readonly string[] => spec.ipFamilies ?? [];

/** Whether both lists have the same elements in the same order. */
export const sameTexts = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((text, index) => text === b[index]);
