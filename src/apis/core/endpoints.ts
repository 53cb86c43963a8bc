/** Endpoints: where a service is reached, as it was told before there were EndpointSlices. Source: kubernetes pkg/apis/core/validation. */
import type { FeatureGates } from "../../apimachinery/feature-gates.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateEndpointIp, validateLegacyIp, warnOfIp } from "../../apimachinery/validation/ip.ts";
import { addInvalid, validateMetaAgain } from "../../apimachinery/validation/metadata.ts";
import { strategy } from "../../catalog/strategy.ts";
import { deepEqual, isObject } from "../../lib/json/values.ts";
import {
  dnsLabelProblems,
  dnsSubdomainProblems,
  portNumberProblems,
  qualifiedNameProblems,
} from "../../lib/names/names.ts";
import { items, type Part, setAbsent } from "../fields.ts";
import { protocols } from "./service/validate-service.ts";

export const endpoints = strategy({
  isolatesStatus: false,
  setDefaults(object) {
    for (const subset of items(object.subsets))
      for (const port of items(subset.ports)) setAbsent(port, { protocol: "TCP" });
  },
  validate: (object, errors, { gates }) => validateSubsets(object, gates, errors),
  validateUpdate(next, old, errors, { gates }) {
    if (!errors.empty)
      validateMetaAgain(next.metadata, { namespaced: true, validateName: dnsSubdomainProblems }, errors);
    // What was there before stays good; whether it was is asked only where it must be, since there may be many.
    const found = new FieldErrors();
    validateSubsets(next, gates, found);
    if (!found.empty && !deepEqual(withoutEmpty(next.subsets), withoutEmpty(old.subsets)))
      validateSubsets(next, gates, errors);
  },
  warnings: warningsOf,
});

/** An empty text is none. */
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

/** What the controller of endpoints writes is written well. */
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
