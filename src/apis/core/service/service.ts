/**
 * Service: defaults, and removal of fields that its type does not have.
 * The admission plugin in `service-addresses.ts` allocates cluster IPs and node ports.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/strategy.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/storage/storage.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { strategy } from "../../../catalog/strategy.ts";
import type { Strategy } from "../../../catalog/strategy-contract.ts";
import { dns1035LabelProblems, dnsLabelProblems } from "../../../lib/names/names.ts";
import { items, type Part, selectableAt, setAbsent, struct } from "../../fields.ts";
import { familyOf } from "./cluster-ips.ts";
import { serviceColumns } from "./columns.ts";
import {
  clusterIps,
  ipFamilies,
  isHeadless,
  isReachedFromOutside,
  mayHaveNodePorts,
  needsAddress,
  needsHealthCheck,
  needsNodePorts,
  sameTexts,
} from "./service-fields.ts";
import { validateLoadBalancerStatus } from "./status.ts";
import { validateService, validateServiceUpdate } from "./validate-service.ts";
import { loadBalancerWarnings, serviceWarnings } from "./warnings.ts";

/** @param hasRelaxedNames whether names can begin with a digit: the gate RelaxedServiceNameValidation */
export const serviceWith = (hasRelaxedNames: boolean): Strategy =>
  strategy({
    columns: serviceColumns,
    validateName: hasRelaxedNames ? dnsLabelProblems : dns1035LabelProblems,
    selectableFields: selectableAt("spec.clusterIP", "spec.type"),
    companion: "endpoints",
    setDefaults,
    setStoredDefaults: ({ spec }) => completeStored(spec),
    prepareForCreate(object) {
      object.status = { loadBalancer: {} };
      normalizeClusterIps(object.spec);
      dropInternalPolicy(object.spec);
    },
    prepareForUpdate(next, old) {
      dropInternalPolicy(next.spec);
      keepAllocated(next.spec, old.spec);
      dropTypeDependentFields(next.spec, old.spec);
      if (next.spec.type !== "LoadBalancer") next.status = { ...old.status, loadBalancer: {} };
    },
    validate: (object, errors, { gates }) => validateService(object, undefined, errors, gates),
    validateUpdate(next, old, errors, { gates }) {
      validateServiceUpdate(next, old, errors);
      validateService(next, old, errors, gates);
    },
    validateStatusUpdate(next, old, errors, { gates }) {
      const rules = {
        type: next.spec?.type,
        strict: gates.enabled("StrictIPCIDRValidation"),
        old: old.status?.loadBalancer,
      };
      validateLoadBalancerStatus(next.status?.loadBalancer ?? {}, "status.loadBalancer", rules, errors);
    },
    warnings: serviceWarnings,
    statusWarnings: ({ status }) => loadBalancerWarnings(status?.loadBalancer),
  });

/** Strategy of `services`. */
export const service = serviceWith(true);

function setDefaults(object: KubeObject): void {
  const spec = struct(object, "spec");
  setAbsent(spec, { sessionAffinity: "None", type: "ClusterIP" });
  setAffinityDefaults(spec);
  for (const port of items(spec.ports)) {
    setAbsent(port, { protocol: "TCP" });
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "")
      port.targetPort = port.port ?? 0;
  }
  if (mayHaveNodePorts(spec) || spec.type === "ClusterIP") spec.internalTrafficPolicy ??= "Cluster";
  if (isReachedFromOutside(spec)) setAbsent(spec, { externalTrafficPolicy: "Cluster" });
  if (spec.type !== "LoadBalancer") return;
  spec.allocateLoadBalancerNodePorts ??= true;
  for (const ingress of items(object.status?.loadBalancer?.ingress))
    if ((ingress.ip ?? "") !== "") ingress.ipMode ??= "VIP";
}

function setAffinityDefaults(spec: Part): void {
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  if (spec.sessionAffinity !== "ClientIP" || typeof spec.sessionAffinityConfig?.clientIP?.timeoutSeconds === "number")
    return;
  spec.sessionAffinityConfig = { clientIP: { timeoutSeconds: 10800 } };
}

/** Older clients send only `clusterIP`; `clusterIPs` is derived from it. */
export function normalizeClusterIps(spec: Part): void {
  if ((spec.clusterIP ?? "") !== "" && clusterIps(spec).length === 0) spec.clusterIPs = [spec.clusterIP];
}

/** An ExternalName service has no internal policy. Validation still rejects an invalid one. */
function dropInternalPolicy(spec: Part): void {
  if (spec.type === "ExternalName" && ["Cluster", "Local"].includes(spec.internalTrafficPolicy))
    delete spec.internalTrafficPolicy;
}

/**
 * Kubernetes before 1.20 stored Services with `clusterIP` alone, and later releases those of type ExternalName with
 * an internal policy. Source: `defaultOnRead` of
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/service/storage/storage.go`; the families of a headless Service, which
 * depend on the cluster, stay absent.
 */
function completeStored(spec: Part): void {
  dropInternalPolicy(spec);
  if (!needsAddress(spec)) return;
  normalizeClusterIps(spec);
  if (ipFamilies(spec).length > 0 || clusterIps(spec).length === 0 || isHeadless(spec)) return;
  spec.ipFamilies = clusterIps(spec).map((address) => (familyOf(address) === "IPv6" ? "IPv6" : "IPv4"));
  spec.ipFamilyPolicy = spec.ipFamilies.length === 1 ? "SingleStack" : "RequireDualStack";
}

/** Keeps allocated addresses and ports that an update omits. */
export function keepAllocated(next: Part, old: Part): void {
  if (needsAddress(next) && needsAddress(old)) {
    setAbsent(next, { clusterIP: old.clusterIP });
    if (clusterIps(next).length === 0 && clusterIps(old).length > 0) next.clusterIPs = [...clusterIps(old)];
  }
  if (needsNodePorts(next) && needsNodePorts(old)) keepNodePorts(items(next.ports), items(old.ports));
  if (needsHealthCheck(next) && needsHealthCheck(old) && !next.healthCheckNodePort)
    next.healthCheckNodePort = old.healthCheckNodePort;
  followClusterIp(next, old);
}

function keepNodePorts(next: readonly Part[], old: readonly Part[]): void {
  const named = new Set(next.map(({ nodePort }) => nodePort));
  const byName = new Map(old.map(({ name = "", nodePort }) => [name, nodePort]));
  for (const port of next.filter(({ nodePort }) => !nodePort)) {
    const before = byName.get(port.name ?? "");
    if (before && !named.has(before)) port.nodePort = before;
  }
}

/** An update that changes `clusterIP` and repeats `clusterIPs` changes both. */
function followClusterIp(next: Part, old: Part): void {
  const before = old.clusterIP ?? "";
  const now = next.clusterIP ?? "";
  if (clusterIps(next).length === 0 && clusterIps(old).length > 0 && now === before)
    next.clusterIPs = [...clusterIps(old)];
  if (now === before || !sameTexts(clusterIps(next), clusterIps(old))) return;
  if (now === "" && before !== "") delete next.clusterIPs;
  else next.clusterIPs = [now];
}

/** When the type changes, drops fields of the old type that the update only repeats. */
function dropTypeDependentFields(next: Part, old: Part): void {
  if (needsAddress(old) && !needsAddress(next)) dropAddresses(next, old);
  if (mayHaveNodePorts(old) && !mayHaveNodePorts(next)) dropNodePorts(items(next.ports), items(old.ports));
  if (needsHealthCheck(old) && !needsHealthCheck(next)) dropRepeated(next, old, "healthCheckNodePort");
  if (old.type === "LoadBalancer" && next.type !== "LoadBalancer") {
    dropRepeated(next, old, "allocateLoadBalancerNodePorts");
    dropRepeated(next, old, "loadBalancerClass");
  }
  if (isReachedFromOutside(old) && !isReachedFromOutside(next)) dropRepeated(next, old, "externalTrafficPolicy");
}

function dropRepeated(next: Part, old: Part, field: string): void {
  if (next[field] === old[field]) delete next[field];
}

function dropAddresses(next: Part, old: Part): void {
  if ((next.clusterIP ?? "") === (old.clusterIP ?? "") && sameTexts(clusterIps(next), clusterIps(old))) {
    delete next.clusterIP;
    delete next.clusterIPs;
  }
  if (sameTexts(ipFamilies(next), ipFamilies(old))) delete next.ipFamilies;
  dropRepeated(next, old, "ipFamilyPolicy");
}

function dropNodePorts(next: readonly Part[], old: readonly Part[]): void {
  const before = new Set(old.map(({ nodePort }) => nodePort));
  if (next.some(({ nodePort }) => nodePort && !before.has(nodePort))) return;
  for (const port of next) delete port.nodePort;
}
