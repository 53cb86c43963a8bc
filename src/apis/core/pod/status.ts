/**
 * Validation of a pod's status, which the kubelet reports.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { validateLegacyIp } from "../../../apimachinery/validation/ip.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { parseIp } from "../../../lib/ip-range/ip-address.ts";
import { dnsLabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateAnnotationChanges, validatePodAnnotations } from "./annotations.ts";
import { validateContainerStatuses } from "./container-status.ts";
import type { PodOptions } from "./options.ts";
import { isNativeResource } from "./resource-names.ts";
import { validateTransitions } from "./transitions.ts";

export function validatePodStatus(next: KubeObject, old: KubeObject, options: PodOptions, errors: FieldErrors): void {
  const [status, before] = [next.status ?? {}, old.status ?? {}];
  validateAnnotationChanges(next, old, "metadata.annotations", errors);
  validatePodAnnotations(next.metadata.annotations, next.spec, "metadata.annotations", options, errors);
  validateConditions(items(status.conditions), "status.conditions", errors);
  validateNominatedNode(status, before, old.spec, options, errors);
  if (status.observedGeneration < 0)
    errors.invalid("status.observedGeneration", status.observedGeneration, "must be a non-negative integer");
  if ((status.qosClass ?? "") !== (before.qosClass ?? ""))
    errors.invalid("status.qosClass", status.qosClass ?? "", "field is immutable");
  validateTransitions(status, before, old.spec, options, errors);
  validateClaimStatuses(
    items(status.resourceClaimStatuses),
    items(next.spec.resourceClaims),
    "status.resourceClaimStatuses",
    errors,
  );
  if (status.extendedResourceClaimStatus) {
    validateExtendedClaim(status.extendedResourceClaimStatus, next.spec, "status.extendedResourceClaimStatus", errors);
  }
  validateNodeAllocatable(status, next.spec, "status.nodeAllocatableResourceClaimStatuses", errors);
  validateAddresses(items(status.podIPs), items(before.podIPs), "status.podIPs", options, errors);
  validateHostAddresses(status, before, options, errors);
  validateContainerStatuses(status, next.spec, options, errors);
}

const systemConditions = ["PodScheduled", "Ready", "Initialized"];

function validateConditions(conditions: readonly Part[], path: string, errors: FieldErrors): void {
  for (const [index, { type = "", observedGeneration = 0 }] of conditions.entries()) {
    const at = `${path}[${index}]`;
    if (observedGeneration < 0)
      errors.invalid(`${at}.observedGeneration`, observedGeneration, "must be a non-negative integer");
    if (!systemConditions.includes(type)) addInvalid(errors, `${at}.Type`, type, qualifiedNameProblems(type));
  }
}

function validateNominatedNode(
  status: Part,
  before: Part,
  oldSpec: Part,
  { clearsNominatedNode }: PodOptions,
  errors: FieldErrors,
): void {
  const { nominatedNodeName: name = "" } = status;
  if (name === "" || name === (before.nominatedNodeName ?? "")) return;
  addInvalid(errors, "status.nominatedNodeName", name, dnsSubdomainProblems(name));
  if (clearsNominatedNode && oldSpec.nodeName) {
    errors.forbidden("status.nominatedNodeName", "may not be set on pods that are already bound to a node");
  }
}

function validateClaimStatuses(
  statuses: readonly Part[],
  claims: readonly Part[],
  path: string,
  errors: FieldErrors,
): void {
  const claimNames = new Set(claims.map(({ name = "" }) => name));
  const names = new Set<string>();
  for (const [index, { name = "", resourceClaimName }] of statuses.entries()) {
    const at = `${path}[${index}]`;
    if (!claimNames.has(name)) {
      errors.invalid(`${at}.name`, name, "must match the name of an entry in `spec.resourceClaims`");
    }
    if (names.has(name)) errors.duplicate(`${at}.name`, name);
    names.add(name);
    if (resourceClaimName !== undefined) {
      addInvalid(errors, `${at}.resourceClaimName`, resourceClaimName, dnsSubdomainProblems(resourceClaimName));
    }
  }
}

/** The claim for extended resources that containers request by name. */
function validateExtendedClaim(
  { requestMappings, resourceClaimName = "" }: Part,
  spec: Part,
  path: string,
  errors: FieldErrors,
): void {
  const containers = new Map(
    [...items(spec.initContainers), ...items(spec.containers)].map((container) => [container.name ?? "", container]),
  );
  const at = `${path}.requestMappings`;
  if (items(requestMappings).length === 0) errors.required(at, "at least one request mapping is required");
  const seen = new Set<string>();
  for (const [index, { containerName = "", resourceName = "", requestName = "" }] of items(requestMappings).entries()) {
    const container = containers.get(containerName);
    if (container === undefined) {
      const why = "must match the name of an entry in spec.initContainers.name or spec.containers.name";
      errors.invalid(`${at}[${index}].containerName`, containerName, why);
    } else if (!Object.hasOwn(container.resources?.requests ?? {}, resourceName)) {
      const lists = "spec.initContainers.resources.requests or spec.containers.resources.requests";
      errors.invalid(
        `${at}[${index}].resourceName`,
        resourceName,
        `must match the extended resource name of an entry in ${lists}`,
      );
    }
    addInvalid(errors, `${path}.requestName`, requestName, dnsLabelProblems(requestName));
    const key = JSON.stringify([containerName, resourceName, requestName]);
    if (seen.has(key)) {
      errors.duplicate(`${at}[${index}].containerName`, containerName);
      errors.duplicate(`${at}[${index}].resourceName`, resourceName);
      errors.duplicate(`${at}[${index}].requestName`, requestName);
    }
    seen.add(key);
  }
  if (resourceClaimName === "") errors.required(`${path}.resourceClaimName`);
  else addInvalid(errors, `${path}.resourceClaimName`, resourceClaimName, dnsSubdomainProblems(resourceClaimName));
}

function validateNodeAllocatable(status: Part, spec: Part, path: string, errors: FieldErrors): void {
  const claimNames = new Set(
    [...items(spec.resourceClaims), ...items(status.resourceClaimStatuses)].map((claim) => claim.resourceClaimName),
  );
  for (const [index, { resourceClaimName = "", containers, resources = {} }] of items(
    status.nodeAllocatableResourceClaimStatuses,
  ).entries()) {
    const at = `${path}[${index}]`;
    if (resourceClaimName === "") errors.required(`${at}.resourceClaimName`, "must not be empty");
    if (!claimNames.has(resourceClaimName))
      errors.invalid(`${at}.resourceClaimName`, resourceClaimName, "no mapping found in pod reference");
    if ((containers ?? []).length === 0) errors.required(`${at}.containers`, "must not be empty");
    if (Object.keys(resources).length === 0) errors.required(`${at}.resources`, "must not be empty");
    for (const [name, quantity] of Object.entries<string>(resources)) {
      if (!isNativeResource(name))
        errors.invalid(`${at}.resources[${name}]`, typedText(name), "must be a node allocatable resource name");
      if (quantity.startsWith("-")) errors.invalid(`${at}.resources[${name}]`, quantity, "must be non-negative");
    }
  }
}

function validateHostAddresses(status: Part, before: Part, options: PodOptions, errors: FieldErrors): void {
  const [first] = items(status.hostIPs);
  if (first === undefined) return;
  const { ip = "" } = first;
  if ((status.hostIP ?? "") !== ip) errors.invalid("status.hostIPs[0].ip", ip, "must be equal to `hostIP`");
  validateAddresses(items(status.hostIPs), items(before.hostIPs), "status.hostIPs", options, errors);
}

/** At most one address of each IP family. */
function validateAddresses(
  list: readonly Part[],
  before: readonly Part[],
  path: string,
  { strictAddresses: strict }: PodOptions,
  errors: FieldErrors,
): void {
  const old = before.map(({ ip = "" }) => ip);
  for (const [index, { ip = "" }] of list.entries()) validateLegacyIp(ip, `${path}[${index}]`, { strict, old }, errors);
  if (list.length < 2) return;
  const families = list.map(({ ip = "" }) => parseIp(ip)?.width);
  const wrong = families.indexOf(undefined);
  if (wrong >= 0)
    errors.internal(path, `failed to check for dual stack with error:invalid IP[${wrong}]: ${list[wrong]?.ip ?? ""}`);
  if (wrong >= 0 || list.length > 2 || families[0] === families[1]) {
    const shown = list.map(({ ip = "" }) => ({ IP: ip }));
    errors.invalid(path, shown, "may specify no more than one IP for each IP family");
  }
}
