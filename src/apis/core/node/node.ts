/**
 * Node: kubelets report most of its fields, so few are validated.
 * The pod CIDRs and the provider ID cannot change once they are set.
 * Sources:
 * `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`,
 * `k8s.io/kubernetes@v1.36.0/pkg/registry/core/node/strategy.go`.
 */

import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { validateLegacyPrefix, warnOfPrefix } from "../../../apimachinery/validation/ip.ts";
import { validateMetaAgain, validateMetaChangesAgain } from "../../../apimachinery/validation/metadata.ts";
import { strategy } from "../../../catalog/strategy.ts";
import { parsePrefix } from "../../../lib/ip-range/ip-address.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { metaCells } from "../../column.ts";
import { items, type Part, selectable } from "../../fields.ts";
import { roundResources, validateResourceList } from "../resource-list.ts";
import { nodeColumns } from "./columns.ts";
import { validateConfigSource } from "./config-source.ts";
import { validateNodeAnnotations, validateTaints } from "./taints.ts";

/** Strategy of `nodes`. */
export const node = strategy({
  columns: nodeColumns,
  cellPaths: [
    ...metaCells,
    "metadata.labels",
    "spec.unschedulable",
    "status.conditions",
    "status.addresses",
    "status.nodeInfo",
  ],
  keepsStatusOnCreate: true,
  repeatsMetaRules: false,
  selectableFields: { "spec.unschedulable": (object) => selectable("spec.unschedulable")(object) || "false" },
  setDefaults(object) {
    normalizePodCidrs(object.spec ?? {});
    const { status } = object;
    if (!status) return;
    if (status.capacity && Object.keys(status.allocatable ?? {}).length === 0)
      status.allocatable = { ...status.capacity };
    roundResources(status.capacity);
    roundResources(status.allocatable);
  },
  prepareForCreate(object) {
    // Dynamic kubelet configuration was removed; only existing nodes keep the fields.
    delete object.spec?.configSource;
    delete object.status?.config;
  },
  prepareForUpdate(next, old) {
    if (!old.spec?.configSource) delete next.spec?.configSource;
  },
  prepareForStatusUpdate(next, old) {
    if (!old.status?.config) delete next.status?.config;
  },
  validate: (object, errors, { gates }) => validateNode(object, gates.enabled("StrictIPCIDRValidation"), errors),
  validateUpdate(next, old, errors, { gates }) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems }, errors);
    validateNode(next, gates.enabled("StrictIPCIDRValidation"), errors);
    validateChanges(next, old, errors);
  },
  validateStatusUpdate: validateChanges,
  warnings: warningsOf,
});

const podCidrs = (spec: Part | undefined): readonly string[] => spec?.podCIDRs ?? [];

/** Older clients send only `podCIDR`, which wins if it differs from the first of `podCIDRs`. */
function normalizePodCidrs(spec: Part): void {
  const { podCIDR = "" } = spec;
  if (podCIDR !== "" && podCidrs(spec)[0] !== podCIDR) spec.podCIDRs = [podCIDR];
  else if (podCidrs(spec).length > 0) spec.podCIDR = podCidrs(spec)[0];
}

function validateNode(object: KubeObject, strict: boolean, errors: FieldErrors): void {
  const { spec, status } = object;
  validateNodeAnnotations(object.metadata, errors);
  validateTaints(items(spec?.taints), "metadata.taints", errors); // Upstream's path.
  validateStatus(status, errors);
  const swap = status?.nodeInfo?.swap?.capacity;
  if (typeof swap === "number" && swap <= 0)
    errors.invalid("metadata.nodeSwapStatus.capacity", swap, "must be greater than zero");
  validateDeclaredFeatures(status?.declaredFeatures ?? [], errors);
  validatePodCidrs(podCidrs(spec), strict, errors);
}

function validateStatus(status: Part | undefined, errors: FieldErrors): void {
  for (const field of ["capacity", "allocatable"])
    validateResourceList(status?.[field], (name) => `status.${field}${name === "" ? "[]" : `.${name}`}`, errors);
}

const featureShape = /^[A-Z][a-zA-Z0-9]*(\/[a-zA-Z][a-zA-Z0-9]*)*$/;
const featureBytesMax = 253;
const featureAdvice =
  "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or MyFeature/mySubFeature), and contain only alphanumeric characters and slashes";

function validateDeclaredFeatures(features: readonly string[], errors: FieldErrors): void {
  for (const [index, feature] of features.entries()) {
    const path = `status.declaredFeatures[${index}]`;
    const addError = (why: string): void =>
      errors.invalid(path, feature, `invalid feature name ${quoteGo(feature)}: ${why}`);
    if (Buffer.byteLength(feature) > featureBytesMax) addError(`must be no more than ${featureBytesMax} characters`);
    else if (!featureShape.test(feature)) addError(featureAdvice);
    const next = features[index + 1];
    if (next === undefined) continue;
    if (feature === next) errors.duplicate(`status.declaredFeatures[${index + 1}]`, next);
    else if (feature > next)
      errors.invalid(`status.declaredFeatures[${index + 1}]`, next, "list must be sorted alphabetically");
  }
}

function validatePodCidrs(ranges: readonly string[], strict: boolean, errors: FieldErrors): void {
  const path = "spec.podCIDRs";
  for (const [index, range] of ranges.entries()) validateLegacyPrefix(range, `${path}[${index}]`, { strict }, errors);
  if (ranges.length < 2) return;
  const families = ranges.map((range) => parsePrefix(range)?.address.family);
  const bad = ranges[families.indexOf(undefined)];
  if (bad !== undefined) {
    errors.internal(
      path,
      `invalid PodCIDRs. failed to check with dual stack with error:invalid CIDR[${ranges.indexOf(bad)}]: <nil> (invalid CIDR address: ${bad})`,
    );
  }
  if (bad !== undefined || new Set(families).size < 2 || ranges.length > 2) {
    errors.invalid(path, ranges, "may specify no more than one CIDR for each IP family");
  }
}

/** Rules for changes, both of the node and of its status. */
function validateChanges(next: KubeObject, old: KubeObject, errors: FieldErrors): void {
  validateMetaChangesAgain(next.metadata, old.metadata, errors);
  validateNodeAnnotations(next.metadata, errors);
  validateStatus(next.status, errors);
  validateDeclaredFeatures(next.status?.declaredFeatures ?? [], errors);
  validateAddresses(items(next.status?.addresses), errors);
  validateSpecChanges(next.spec ?? {}, old.spec ?? {}, errors);
  if (next.spec?.configSource) validateConfigSource(next.spec.configSource, "spec.configSource", "spec", errors);
  for (const field of ["assigned", "active", "lastKnownGood"]) {
    const source = next.status?.config?.[field];
    if (source) validateConfigSource(source, `status.config.${field}`, "status", errors);
  }
  validateTaints(items(next.spec?.taints), "metadata.taints", errors);
  if ((next.spec?.externalID ?? "") !== (old.spec?.externalID ?? ""))
    errors.forbidden("spec.externalID", "may not be updated");
}

function validateAddresses(addresses: readonly Part[], errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { type = "", address = "" }] of addresses.entries()) {
    const key = `${type} ${address}`;
    if (seen.has(key)) errors.duplicate(`status.addresses[${index}]`, { Type: type, Address: address });
    seen.add(key);
  }
}

function validateSpecChanges(next: Part, old: Part, errors: FieldErrors): void {
  const before = podCidrs(old);
  const now = podCidrs(next);
  const addError = (): void =>
    errors.forbidden("spec.podCIDRs", 'node updates may not change podCIDR except from "" to valid');
  if (before.length > 0) {
    if (now.length !== before.length) addError();
    else for (const [index, range] of before.entries()) if (now[index] !== range) addError();
  }
  const { providerID = "" } = old;
  if (providerID !== "" && providerID !== (next.providerID ?? "")) {
    errors.forbidden("spec.providerID", 'node updates may not change providerID except from "" to valid');
  }
}

function warningsOf({ spec }: KubeObject): string[] {
  const warnings: string[] = [];
  if (spec?.configSource) warnings.push("spec.configSource: the feature is removed");
  if ((spec?.externalID ?? "") !== "")
    warnings.push("spec.externalID: this field is deprecated, and is unused by Kubernetes");
  for (const [index, range] of podCidrs(spec).entries()) warnOfPrefix(range, `spec.podCIDRs[${index}]`, warnings);
  return warnings;
}
