/**
 * Validation of services, in upstream's order.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FeatureGates } from "../../../apimachinery/feature-gates.ts";
import { type FieldErrors, plainText, typedText } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { validateEndpointIp, validateLegacyIp, validateLegacyPrefix } from "../../../apimachinery/validation/ip.ts";
import { addInvalid, validateLabels } from "../../../apimachinery/validation/metadata.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  portNameProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateClusterIps, validateClusterIpsUpdate, validateFamiliesUpdate } from "./cluster-ips.ts";
import {
  clusterIps,
  hintsAnnotation,
  ipFamilies,
  isHeadless,
  isReachedFromOutside,
  modeAnnotation,
  needsAddress,
  needsHealthCheck,
} from "./service-fields.ts";

const rangesAnnotation = "service.beta.kubernetes.io/load-balancer-source-ranges";

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const affinities = ["ClientIP", "None"];
/** Protocols of service and endpoint ports. */
export const protocols = ["SCTP", "TCP", "UDP"];
const trafficPolicies = ["Cluster", "Local"];
const distributions = ["PreferClose", "PreferSameZone", "PreferSameNode"];
const affinitySecondsMax = 86400;

const onlyLoadBalancers = "may only be used when `type` is 'LoadBalancer'";

/**
 * Rules for both creates and updates.
 *
 * @param old the stored service on update; its addresses and ranges are exempt from strict parsing
 */
export function validateService(
  object: KubeObject,
  old: KubeObject | undefined,
  errors: FieldErrors,
  gates: FeatureGates,
): void {
  const { spec } = object;
  const strict = gates.enabled("StrictIPCIDRValidation");
  checkTopology(object.metadata.annotations ?? {}, errors);
  checkType(spec, errors);
  checkPorts(spec, errors);
  validateLabels(spec.selector, "spec.selector", errors);
  checkAffinity(spec, errors);
  validateClusterIps(spec, old?.spec, strict, errors);
  checkExternalIps(spec, old?.spec, strict, errors);
  if (!types.includes(spec.type)) errors.notSupported("spec.type", spec.type, types);
  checkPortNumbers(spec, errors);
  checkSourceRanges(object, old, strict, errors);
  checkLoadBalancer(spec, errors);
  checkTrafficPolicies(spec, errors);
  checkDistribution(spec, gates, errors);
}

/** Rules for changes. */
export function validateServiceUpdate(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  validateClusterIpsUpdate(next.spec, old.spec, errors);
  validateFamiliesUpdate(next.spec, old.spec, errors);
  if (next.spec.type === "LoadBalancer" && old.spec.type === "LoadBalancer") {
    const { loadBalancerClass } = next.spec;
    if ((loadBalancerClass ?? null) !== (old.spec.loadBalancerClass ?? null)) {
      errors.invalid("spec.loadBalancerClass", typedText(loadBalancerClass), "may not change once set");
    }
  }
  checkLoadBalancerClass(next.spec, errors);
  const isChanged = (next.spec.healthCheckNodePort ?? 0) !== (old.spec.healthCheckNodePort ?? 0);
  if (isChanged && needsHealthCheck(next.spec) && needsHealthCheck(old.spec))
    errors.forbidden("spec.healthCheckNodePort", "field is immutable");
}

function checkTopology(annotations: Readonly<Record<string, string>>, errors: FieldErrors): void {
  if (!Object.hasOwn(annotations, hintsAnnotation) || !Object.hasOwn(annotations, modeAnnotation)) return;
  const mode = annotations[modeAnnotation];
  if (mode === annotations[hintsAnnotation]) return;
  errors.invalid(
    `metadata.annotations[${modeAnnotation}]`,
    mode,
    `must match annotations[${hintsAnnotation}] when both are specified`,
  );
}

/** Fields that the type requires or excludes. */
function checkType(spec: Part, errors: FieldErrors): void {
  const { type } = spec;
  if (items(spec.ports).length === 0 && !isHeadless(spec) && needsAddress(spec)) errors.required("spec.ports");
  if ((type === "LoadBalancer" || type === "NodePort") && isHeadless(spec)) {
    errors.invalid("spec.clusterIPs[0]", spec.clusterIPs[0], `may not be set to 'None' for ${type} services`);
  }
  if (type !== "ExternalName") return;
  const no = "may not be set for ExternalName services";
  if (clusterIps(spec).length > 0) errors.forbidden("spec.clusterIPs", no);
  if (ipFamilies(spec).length > 0) errors.forbidden("spec.ipFamilies", no);
  if ((spec.ipFamilyPolicy ?? undefined) !== undefined) errors.forbidden("spec.ipFamilyPolicy", no);
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  if (name === "") errors.required("spec.externalName");
  else addInvalid(errors, "spec.externalName", name, dnsSubdomainProblems(name));
}

function checkPorts(spec: Part, errors: FieldErrors): void {
  const ports = items(spec.ports);
  const names = new Set<string>();
  for (const [index, port] of ports.entries()) {
    const path = `spec.ports[${index}]`;
    const { name = "", port: number = 0, protocol, targetPort, appProtocol } = port;
    if (name !== "") {
      addInvalid(errors, `${path}.name`, name, dnsLabelProblems(name));
      if (names.has(name)) errors.duplicate(`${path}.name`, name);
      names.add(name);
    } else if (ports.length > 1) errors.required(`${path}.name`);
    addInvalid(errors, `${path}.port`, number, portNumberProblems(number));
    if (!protocols.includes(protocol)) errors.notSupported(`${path}.protocol`, protocol, protocols);
    if (typeof targetPort === "number")
      addInvalid(errors, `${path}.targetPort`, targetPort, portNumberProblems(targetPort));
    if (typeof targetPort === "string")
      addInvalid(errors, `${path}.targetPort`, targetPort, portNameProblems(targetPort));
    if (typeof appProtocol === "string")
      addInvalid(errors, `${path}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol));
  }
}

function checkAffinity({ sessionAffinity, sessionAffinityConfig: config }: Part, errors: FieldErrors): void {
  if (!affinities.includes(sessionAffinity)) errors.notSupported("spec.sessionAffinity", sessionAffinity, affinities);
  if (sessionAffinity !== "ClientIP") return;
  const seconds = config?.clientIP?.timeoutSeconds;
  if (seconds > 0 && seconds <= affinitySecondsMax) return;
  errors.invalid(
    "spec.sessionAffinityConfig.clientIP.timeoutSeconds",
    seconds,
    `must be greater than 0 and less than ${affinitySecondsMax}`,
  );
}

function checkExternalIps(spec: Part, old: Part | undefined, strict: boolean, errors: FieldErrors): void {
  for (const [index, address] of ((spec.externalIPs ?? []) as string[]).entries()) {
    const path = `spec.externalIPs[${index}]`;
    if (validateLegacyIp(address, path, { strict, old: old?.externalIPs ?? undefined }, errors))
      validateEndpointIp(address, path, errors);
  }
}

/** Rejects node ports of ClusterIP services, and duplicate ports. */
function checkPortNumbers(spec: Part, errors: FieldErrors): void {
  const ports = items(spec.ports);
  const checkUnique = (what: "nodePort" | "port", report: (index: number, port: Part) => void): void => {
    const seen = new Set<string>();
    for (const [index, port] of ports.entries()) {
      if (what === "nodePort" && !port.nodePort) continue;
      const number = `${port.protocol} ${port[what] ?? 0}`;
      if (seen.has(number)) report(index, port);
      seen.add(number);
    }
  };
  if (spec.type === "ClusterIP") {
    for (const [index, { nodePort }] of ports.entries()) {
      if (nodePort) errors.forbidden(`spec.ports[${index}].nodePort`, "may not be used when `type` is 'ClusterIP'");
    }
  }
  checkUnique("nodePort", (index, { nodePort }) => errors.duplicate(`spec.ports[${index}].nodePort`, nodePort));
  checkUnique("port", (index, { protocol, port = 0 }) => {
    const shown = { Name: "", Protocol: protocol, AppProtocol: null, Port: port, TargetPort: 0, NodePort: 0 };
    errors.duplicate(`spec.ports[${index}]`, shown);
  });
}

function checkSourceRanges(
  { metadata, spec }: KubeObject,
  old: KubeObject | undefined,
  strict: boolean,
  errors: FieldErrors,
): void {
  const ranges: readonly string[] = spec.loadBalancerSourceRanges ?? [];
  if (ranges.length > 0) {
    const path = "spec.LoadBalancerSourceRanges"; // Upstream's spelling.
    if (spec.type !== "LoadBalancer") errors.forbidden(path, onlyLoadBalancers);
    const before: readonly string[] = old?.spec.loadBalancerSourceRanges ?? [];
    const trimmed = before.map((range) => range.trim());
    for (const [index, range] of ranges.entries())
      validateLegacyPrefix(range.trim(), `${path}[${index}]`, { strict, old: trimmed }, errors);
    return;
  }
  const { annotations = {} } = metadata;
  if (!Object.hasOwn(annotations, rangesAnnotation)) return;
  const path = `metadata.annotations[${rangesAnnotation}]`;
  if (spec.type !== "LoadBalancer") errors.forbidden(path, onlyLoadBalancers);
  const text = annotations[rangesAnnotation] as string;
  if (old !== undefined && (old.metadata.annotations?.[rangesAnnotation] ?? "") === text) return;
  if (text.trim() === "") return;
  for (const range of text.trim().split(",")) validateLegacyPrefix(range.trim(), path, { strict }, errors);
}

function checkLoadBalancer(spec: Part, errors: FieldErrors): void {
  if (spec.type !== "LoadBalancer" && typeof spec.allocateLoadBalancerNodePorts === "boolean") {
    errors.forbidden("spec.allocateLoadBalancerNodePorts", onlyLoadBalancers);
  }
  checkLoadBalancerClass(spec, errors);
}

function checkLoadBalancerClass({ type, loadBalancerClass }: Part, errors: FieldErrors): void {
  if (typeof loadBalancerClass !== "string") return;
  if (type === "LoadBalancer")
    addInvalid(errors, "spec.loadBalancerClass", loadBalancerClass, qualifiedNameProblems(loadBalancerClass));
  else errors.forbidden("spec.loadBalancerClass", onlyLoadBalancers);
}

function checkTrafficPolicies(spec: Part, errors: FieldErrors): void {
  const { externalTrafficPolicy: external = "", healthCheckNodePort: port = 0, internalTrafficPolicy: internal } = spec;
  if (!isReachedFromOutside(spec)) {
    if (external !== "")
      errors.invalid(
        "spec.externalTrafficPolicy",
        typedText(external),
        "may only be set for externally-accessible services",
      );
  } else if (!trafficPolicies.includes(external))
    errors.notSupported("spec.externalTrafficPolicy", external, trafficPolicies);
  if (!needsHealthCheck(spec)) {
    const why = "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
    if (port !== 0) errors.invalid("spec.healthCheckNodePort", port, why);
  } else if (port === 0) errors.required("spec.healthCheckNodePort");
  else addInvalid(errors, "spec.healthCheckNodePort", port, portNumberProblems(port));
  if (typeof internal === "string" && !trafficPolicies.includes(internal))
    errors.notSupported("spec.internalTrafficPolicy", internal, trafficPolicies);
}

function checkDistribution({ trafficDistribution }: Part, gates: FeatureGates, errors: FieldErrors): void {
  if (typeof trafficDistribution !== "string") return;
  const supported = gates.enabled("PreferSameTrafficDistribution") ? distributions : distributions.slice(0, 1);
  if (!supported.includes(trafficDistribution))
    errors.notSupported("spec.trafficDistribution", plainText(trafficDistribution), supported);
}
