/** Service: what it defaults to and what is fixed. Its addresses and node ports are given out by service-addresses.ts, in admission. */
import type { FieldErrors } from "../../api/field-errors.ts";
import type { KubeObject } from "../../api/object.ts";
import { addInvalid, validateLabels } from "../../api/validation/metadata.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { dns1035LabelProblems, dnsLabelProblems, dnsSubdomainProblems, portNameProblems, portNumberProblems } from "../../lib/names/names.ts";
import { strategy } from "../../resource/strategy.ts";
import { items, type Part, selectableAt, setAbsent, struct } from "../fields.ts";

export const service = strategy({
  validateName: dnsLabelProblems,
  selectableFields: selectableAt("spec.clusterIP", "spec.type"),
  setDefaults,
  prepareForCreate(object) {
    object.status = { loadBalancer: {} };
  },
  prepareForUpdate(next, old) {
    keepAllocated(next.spec, old.spec);
    dropWhatTheTypeLacks(next.spec, old.spec);
  },
  validate(object, errors, { gates }) {
    const { name = "" } = object.metadata;
    if (!gates.enabled("RelaxedServiceNameValidation") && dnsLabelProblems(name).length === 0) {
      addInvalid(errors, "metadata.name", name, dns1035LabelProblems(name));
    }
    validate(object, errors);
  },
  validateUpdate(next, old, errors) {
    checkAddressUnchanged(next.spec, old.spec, errors);
    validate(next, errors);
  },
});

export const needsAddress = (spec: Part): boolean => spec.type !== "ExternalName";

export function needsNodePorts(spec: Part): boolean {
  return spec.type === "NodePort" || (spec.type === "LoadBalancer" && spec.allocateLoadBalancerNodePorts !== false);
}

function setDefaults(object: KubeObject): void {
  const spec = struct(object, "spec");
  setAbsent(spec, { sessionAffinity: "None", type: "ClusterIP" });
  if (spec.sessionAffinity === "ClientIP") setAbsent(struct(struct(spec, "sessionAffinityConfig"), "clientIP"), { timeoutSeconds: 10800 });
  if (spec.sessionAffinity === "None") delete spec.sessionAffinityConfig;
  for (const port of items(spec.ports)) {
    setAbsent(port, { protocol: "TCP" });
    if (port.targetPort === undefined || port.targetPort === 0 || port.targetPort === "") port.targetPort = port.port;
  }
  if (needsAddress(spec)) setAbsent(spec, { internalTrafficPolicy: "Cluster" });
  const fromOutside = spec.type === "NodePort" || spec.type === "LoadBalancer" || (spec.type === "ClusterIP" && items(spec.externalIPs).length > 0);
  if (fromOutside) setAbsent(spec, { externalTrafficPolicy: "Cluster" });
  if (spec.type === "LoadBalancer") setAbsent(spec, { allocateLoadBalancerNodePorts: true });
}

/** What was given out stays where an update does not name it: clients send services without. */
export function keepAllocated(next: Part, old: Part): void {
  if (needsAddress(next) && needsAddress(old)) {
    setAbsent(next, { clusterIP: old.clusterIP });
    if (items(next.clusterIPs).length === 0 && next.clusterIP === old.clusterIP) next.clusterIPs = old.clusterIPs;
    setAbsent(next, { ipFamilyPolicy: old.ipFamilyPolicy });
    if (items(next.ipFamilies).length === 0) next.ipFamilies = old.ipFamilies;
  }
  if (needsNodePorts(next) && needsNodePorts(old)) keepNodePorts(items(next.ports), items(old.ports));
}

function keepNodePorts(next: readonly Part[], old: readonly Part[]): void {
  const taken = new Set(next.map((port) => port.nodePort));
  const byName = new Map(old.map((port) => [port.name ?? "", port.nodePort]));
  for (const port of next.filter(({ nodePort }) => !nodePort)) {
    const before = byName.get(port.name ?? "");
    if (!before || taken.has(before)) continue;
    port.nodePort = before;
    taken.add(before);
  }
}

const onlyOfType: [fields: readonly string[], has: (spec: Part) => boolean][] = [
  [["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy", "internalTrafficPolicy"], needsAddress],
  [["externalTrafficPolicy"], ({ type }) => type === "NodePort" || type === "LoadBalancer"],
  [["allocateLoadBalancerNodePorts", "loadBalancerClass", "healthCheckNodePort"], ({ type }) => type === "LoadBalancer"],
];

/** A changed type takes with it what the old one had and the update only repeats. */
function dropWhatTheTypeLacks(next: Part, old: Part): void {
  for (const [fields, has] of onlyOfType) {
    if (has(next) || !has(old)) continue;
    for (const field of fields) if (deepEqual(next[field], old[field])) delete next[field];
  }
  const before = new Set(items(old.ports).map(({ nodePort }) => nodePort));
  if (needsNodePorts(old) && !needsNodePorts(next)) for (const port of items(next.ports)) if (before.has(port.nodePort)) delete port.nodePort;
}

/** An address stays as long as the service has one. */
function checkAddressUnchanged(next: Part, old: Part, errors: FieldErrors): void {
  if (!needsAddress(next) || !needsAddress(old) || (old.clusterIP ?? "") === "" || next.clusterIP === old.clusterIP) return;
  errors.invalid("spec.clusterIPs[0]", next.clusterIPs ?? null, "may not change once set");
}

const types = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
const affinities = ["ClientIP", "None"];
const protocols = ["SCTP", "TCP", "UDP"];

function validate(object: KubeObject, errors: FieldErrors): void {
  const { spec } = object;
  const ports = items(spec.ports);
  if (ports.length === 0 && needsAddress(spec) && spec.clusterIP !== "None") errors.required("spec.ports");
  for (const [index, port] of ports.entries()) validatePort(port, `spec.ports[${index}]`, { named: ports.length > 1 }, errors);
  checkDistinct(ports, errors);
  validateLabels(spec.selector, "spec.selector", errors);
  if (!affinities.includes(spec.sessionAffinity)) errors.notSupported("spec.sessionAffinity", spec.sessionAffinity, affinities);
  if (!types.includes(spec.type)) errors.notSupported("spec.type", spec.type, types);
  if (spec.type === "ExternalName") validateExternalName(spec, errors);
}

function validatePort(port: Part, path: string, { named }: { named: boolean }, errors: FieldErrors): void {
  const { name = "", port: number = 0, protocol, targetPort } = port;
  if (name === "" && named) errors.required(`${path}.name`);
  else if (name !== "") addInvalid(errors, `${path}.name`, name, dnsLabelProblems(name));
  addInvalid(errors, `${path}.port`, number, portNumberProblems(number));
  if (!protocols.includes(protocol)) errors.notSupported(`${path}.protocol`, protocol, protocols);
  if (typeof targetPort === "number") addInvalid(errors, `${path}.targetPort`, targetPort, portNumberProblems(targetPort));
  if (typeof targetPort === "string") addInvalid(errors, `${path}.targetPort`, targetPort, portNameProblems(targetPort));
}

function checkDistinct(ports: readonly Part[], errors: FieldErrors): void {
  const names = new Set<string>();
  const numbers = new Set<string>();
  for (const [index, { name = "", port, protocol }] of ports.entries()) {
    if (name !== "" && names.has(name)) errors.duplicate(`spec.ports[${index}].name`, name);
    names.add(name);
    const number = `${protocol} ${port}`;
    if (numbers.has(number)) errors.duplicate(`spec.ports[${index}]`, { protocol, port });
    numbers.add(number);
  }
}

function validateExternalName(spec: Part, errors: FieldErrors): void {
  if ((spec.clusterIP ?? "") !== "" && spec.clusterIP !== "None") errors.forbidden("spec.clusterIPs", "may not be set for ExternalName services");
  const name = (spec.externalName ?? "").replace(/\.$/, "");
  if (name === "") errors.required("spec.externalName");
  else addInvalid(errors, "spec.externalName", name, dnsSubdomainProblems(name));
}
