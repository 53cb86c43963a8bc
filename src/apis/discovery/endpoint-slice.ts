/**
 * EndpointSlice: a part of the addresses of a service.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/discovery/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/discovery/endpointslice/strategy.go`.
 */
import { type FieldErrors, typedText } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateDomain } from "../../apimachinery/validation/domain.ts";
import {
  type LegacyIpOptions,
  validateEndpointIp,
  validateIp,
  validateLegacyIp,
  warnOfIp,
} from "../../apimachinery/validation/ip.ts";
import { addInvalid, validateLabels, validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { strategy } from "../../catalog/strategy.ts";
import { parseIp } from "../../lib/ip-range/ip-address.ts";
import { deepEqual } from "../../lib/json/values.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  labelValueProblems,
  qualifiedNameProblems,
} from "../../lib/names/names.ts";
import { endpointSliceColumns } from "../core/service/columns.ts";
import { checkImmutable, items, type Part } from "../fields.ts";

const endpointsMax = 1000;
const addressesMax = 100;
const portsMax = 20_000;
const hintsMax = 8;
const topologyLabelsMax = 16;

/** The strategy of EndpointSlice. */
export const endpointSlice = strategy({
  columns: endpointSliceColumns,
  isolatesStatus: false,
  hasGeneration: true,
  countsDroppedFields: true,
  repeatsMetaRules: false,
  declarative: {},
  raisesGeneration: (next, old) => !deepEqual(next.metadata.labels ?? {}, old.metadata.labels ?? {}),
  setDefaults(object) {
    for (const port of items(object.ports)) {
      port.name ??= "";
      port.protocol ??= "TCP";
    }
  },
  prepareForCreate: (object) => dropTopology(object, new Set()),
  prepareForUpdate(next, old) {
    if (!deepEqual(next.endpoints ?? [], old.endpoints ?? [])) dropTopology(next, topologyNodes(old));
  },
  validate: (object, errors, { gates }) =>
    validate(object, undefined, { strict: gates.enabled("StrictIPCIDRValidation") }, errors),
  validateUpdate(next, old, errors, { gates }) {
    validateMetaAgain(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    validate(next, old, { strict: gates.enabled("StrictIPCIDRValidation") }, errors);
    checkImmutable(next.addressType ?? "", old.addressType ?? "", "addressType", errors.covered("immutable"));
  },
  warnings(object, old) {
    const warnings =
      old === undefined && object.addressType === "FQDN" ? ["spec.addressType: FQDN endpoints are deprecated"] : [];
    if (carefulManagers.has(object.metadata.labels?.["endpointslice.kubernetes.io/managed-by"] ?? "")) return warnings;
    for (const [index, { addresses }] of items(object.endpoints).entries()) {
      for (const [at, address] of (addresses ?? []).entries())
        warnOfIp(address, `endpoints[${index}].addresses[${at}]`, warnings);
    }
    return warnings;
  },
});

/** Controllers that write addresses in canonical form. */
const carefulManagers: ReadonlySet<string> = new Set([
  "endpointslice-controller.k8s.io",
  "endpointslicemirroring-controller.k8s.io",
]);

const hostnameLabel = "kubernetes.io/hostname";

/** Drops a field of an older version, but keeps its node name. */
function dropTopology(object: KubeObject, known: ReadonlySet<string>): void {
  for (const endpoint of items(object.endpoints)) {
    const node = endpoint.deprecatedTopology?.[hostnameLabel];
    if (
      endpoint.nodeName === undefined &&
      node !== undefined &&
      known.has(node) &&
      dnsSubdomainProblems(node).length === 0
    )
      endpoint.nodeName = node;
    delete endpoint.deprecatedTopology;
  }
}

function topologyNodes(object: KubeObject): Set<string> {
  return new Set(
    items(object.endpoints).flatMap(({ deprecatedTopology }) => deprecatedTopology?.[hostnameLabel] || []),
  );
}

function validate(object: KubeObject, old: KubeObject | undefined, rules: LegacyIpOptions, errors: FieldErrors): void {
  validateAddressType(object.addressType ?? "", errors);
  validatePorts(items(object.ports), errors);
  const before = errors.causes.length;
  validateEndpoints(items(object.endpoints), object.addressType, rules, errors);
  // Values that an older release accepted remain valid while they are unchanged.
  if (errors.causes.length > before && old !== undefined && deepEqual(object.endpoints ?? [], old.endpoints ?? []))
    errors.causes.splice(before);
}

function validateAddressType(type: string, errors: FieldErrors): void {
  const types = ["FQDN", "IPv4", "IPv6"];
  if (type === "") errors.covered().required("addressType");
  else if (!types.includes(type)) errors.covered().notSupported("addressType", type, types);
}

function validatePorts(ports: readonly Part[], errors: FieldErrors): void {
  if (ports.length > portsMax) return errors.tooMany("ports", ports.length, portsMax);
  const names = new Set<string>();
  for (const [index, { name = "", protocol, appProtocol }] of ports.entries()) {
    const path = `ports[${index}]`;
    if (name !== "") addInvalid(errors, `${path}.name`, name, dnsLabelProblems(name));
    if (names.has(name)) errors.duplicate(`${path}.name`, typedText(name));
    names.add(name);
    if (protocol === undefined) errors.required(`${path}.protocol`);
    else if (!["SCTP", "TCP", "UDP"].includes(protocol))
      errors.notSupported(`${path}.protocol`, protocol, ["SCTP", "TCP", "UDP"]);
    if (appProtocol !== undefined)
      addInvalid(errors, `${path}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol));
  }
}

function validateEndpoints(
  endpoints: readonly Part[],
  type: string,
  rules: LegacyIpOptions,
  errors: FieldErrors,
): void {
  if (endpoints.length > endpointsMax) return errors.tooMany("endpoints", endpoints.length, endpointsMax);
  for (const [index, endpoint] of endpoints.entries()) {
    const path = `endpoints[${index}]`;
    const { nodeName, hostname, hints } = endpoint;
    validateAddresses(endpoint.addresses ?? [], type, `${path}.addresses`, rules, errors);
    if (nodeName !== undefined) addInvalid(errors, `${path}.nodeName`, nodeName, dnsSubdomainProblems(nodeName));
    validateTopology(endpoint.deprecatedTopology ?? {}, `${path}.deprecatedTopology`, errors);
    if (hostname !== undefined) addInvalid(errors, `${path}.hostname`, hostname, dnsLabelProblems(hostname));
    if (hints !== undefined) validateHints(hints, `${path}.hints`, errors);
  }
}

function validateAddresses(
  addresses: readonly string[],
  type: string,
  path: string,
  rules: LegacyIpOptions,
  errors: FieldErrors,
): void {
  if (addresses.length === 0) errors.covered().required(path, "must contain at least 1 address");
  else if (addresses.length > addressesMax) errors.covered("maxItems").tooMany(path, addresses.length, addressesMax);
  for (const [index, address] of addresses.entries()) {
    const at = `${path}[${index}]`;
    if (type === "FQDN") {
      validateDomain(address, at, errors);
      continue;
    }
    if (type !== "IPv4" && type !== "IPv6") continue;
    const before = errors.causes.length;
    if (type === "IPv4") validateLegacyIp(address, at, rules, errors);
    else validateIp(address, at, errors);
    if (errors.causes.length > before) continue;
    if (parseIp(address)?.family !== type) errors.invalid(path, address, `must be an ${type} address`);
    validateEndpointIp(address, at, errors);
  }
}

function validateTopology(topology: Readonly<Record<string, string>>, path: string, errors: FieldErrors): void {
  const keys = Object.keys(topology);
  if (keys.length > topologyLabelsMax) errors.tooMany(path, keys.length, topologyLabelsMax);
  validateLabels(topology, path, errors);
}

function validateHints({ forZones, forNodes }: Part, path: string, errors: FieldErrors): void {
  const isShort = validateHintList(items(forZones), `${path}.forZones`, labelValueProblems, errors);
  if (isShort) validateHintList(items(forNodes), `${path}.forNodes`, dnsSubdomainProblems, errors);
}

function validateHintList(
  hints: readonly Part[],
  path: string,
  problems: (name: string) => string[],
  errors: FieldErrors,
): boolean {
  if (hints.length > hintsMax) {
    errors.tooMany(path, hints.length, hintsMax);
    return false;
  }
  const names = new Set<string>();
  for (const [index, { name = "" }] of hints.entries()) {
    if (names.has(name)) errors.duplicate(`${path}[${index}].name`, name);
    names.add(name);
    addInvalid(errors, `${path}[${index}].name`, name, problems(name));
  }
  return true;
}

const zoneLabel = "topology.kubernetes.io/zone";

/** Slices of v1beta1. */
export const endpointSliceV1beta1: StoredConversion = {
  toStorage(object) {
    for (const endpoint of items(object.endpoints)) {
      const { [zoneLabel]: zone, ...topology } = (endpoint.topology ?? {}) as Record<string, string>;
      delete endpoint.topology;
      if (zone !== undefined) endpoint.zone = zone;
      if (endpoint.nodeName !== undefined && topology[hostnameLabel] === endpoint.nodeName)
        delete topology[hostnameLabel];
      if (Object.keys(topology).length > 0) endpoint.deprecatedTopology = topology;
    }
    return object;
  },
};
