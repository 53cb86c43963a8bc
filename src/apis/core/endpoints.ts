/**
 * Endpoints: addresses and ports of a service, the predecessor of EndpointSlice.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/endpoint/strategy.go`.
 */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateEndpointIp, validateLegacyIp, warnOfIp } from "../../apimachinery/validation/ip.ts";
import { addInvalid, validateMetaAgainIfNeeded } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual, isObject } from "../../lib/json/values.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from "../../lib/names/names.ts";
import { items, type Part, setAbsent } from "../fields.ts";
import { endpointsColumns } from "./service/columns.ts";
import { protocols } from "./service/validate-service.ts";

/** Strategy of `endpoints`. */
export const endpoints = strategy({
  columns: endpointsColumns,
  isolatesStatus: false,
  setDefaults(object) {
    for (const subset of items(object.subsets))
      for (const port of items(subset.ports)) setAbsent(port, { protocol: "TCP" });
  },
  validate: (object, errors, { gates }) => validateSubsets(object, gates, errors),
  validateUpdate(next, old, errors, { gates }) {
    validateMetaAgainIfNeeded(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    // Unchanged subsets stay valid. They may be large, so they are compared only after an error.
    const found = new FieldErrors();
    validateSubsets(next, gates, found);
    if (!found.empty && !deepEqual(withoutEmpty(next.subsets), withoutEmpty(old.subsets)))
      validateSubsets(next, gates, errors);
  },
  warnings: warningsOf,
});

/** Removes empty strings, which are equal to absent fields. */
function withoutEmpty(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutEmpty);
  if (!isObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== "");
  return Object.fromEntries(members.map(([key, member]) => [key, withoutEmpty(member)]));
}

function validateSubsets({ subsets }: KubeObject, gates: FeatureGates, errors: FieldErrors): void {
  const strict = gates.enabled("StrictIPCIDRValidation");
  for (const [index, subset] of items(subsets).entries()) {
    const path = `subsets[${index}]`;
    const ports = items(subset.ports);
    if (items(subset.addresses).length === 0 && items(subset.notReadyAddresses).length === 0) {
      errors.required(path, "must specify `addresses` or `notReadyAddresses`");
    }
    for (const field of ["addresses", "notReadyAddresses"]) {
      for (const [at, address] of items(subset[field]).entries())
        validateAddress(address, `${path}.${field}[${at}]`, strict, errors);
    }
    for (const [at, port] of ports.entries()) validatePort(port, `${path}.ports[${at}]`, ports.length > 1, errors);
  }
}

function validateAddress(
  { ip = "", hostname = "", nodeName }: Part,
  path: string,
  strict: boolean,
  errors: FieldErrors,
): void {
  validateLegacyIp(ip, `${path}.ip`, { strict }, errors);
  if (hostname !== "") addInvalid(errors, `${path}.hostname`, hostname, dnsLabelProblems(hostname));
  if (typeof nodeName === "string") addInvalid(errors, `${path}.nodeName`, nodeName, dnsSubdomainProblems(nodeName));
  validateEndpointIp(ip, `${path}.ip`, errors);
}

function validatePort(
  { name = "", port = 0, protocol, appProtocol }: Part,
  path: string,
  named: boolean,
  errors: FieldErrors,
): void {
  if (name !== "") addInvalid(errors, `${path}.name`, name, dnsLabelProblems(name));
  else if (named) errors.required(`${path}.name`);
  addInvalid(errors, `${path}.port`, port, portNumberProblems(port));
  if (!protocols.includes(protocol)) errors.notSupported(`${path}.protocol`, protocol, protocols);
  if (typeof appProtocol === "string")
    addInvalid(errors, `${path}.appProtocol`, appProtocol, qualifiedNameProblems(appProtocol));
}

const managerLabel = "endpoints.kubernetes.io/managed-by";

/** Objects of the endpoints controller get no warnings. */
function warningsOf({ metadata, subsets }: KubeObject): string[] {
  const warnings: string[] = [];
  if (metadata.labels?.[managerLabel] === "endpoint-controller") return warnings;
  for (const [index, subset] of items(subsets).entries()) {
    for (const field of ["addresses", "notReadyAddresses"]) {
      for (const [at, { ip = "" }] of items(subset[field]).entries())
        warnOfIp(ip, `subsets[${index}].${field}[${at}].ip`, warnings);
    }
  }
  return warnings;
}
