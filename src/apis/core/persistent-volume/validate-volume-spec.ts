/**
 * Validation of the spec of a persistent volume, in upstream's order.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { posix } from "node:path";
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { integerValue, parseQuantity } from "../../../lib/quantity/quantity.ts";
import type { Part } from "../../fields.ts";
import { validateNodeSelector } from "../pod/affinity.ts";
import { validateAccessModes } from "../pod/claim-template.ts";
import { byName } from "../pod/resources.ts";
import { isPositive } from "../resource-list.ts";
import { validateSources } from "./sources.ts";

interface VolumeRules {
  /** Name of the volume. */
  readonly name: string;
  /** The spec is inline in another object, such as a VolumeAttachment. */
  readonly inline?: boolean;
  /** Node selectors may have values that are not valid label values. */
  readonly anyNodeValue?: boolean;
}

const reclaimPolicies = ["Delete", "Recycle", "Retain"];
const volumeModes = ["Block", "Filesystem"];

/** @returns rules that accept invalid selector values if the stored volume has some */
export function nodeAffinityRules(old: Part | undefined): Pick<VolumeRules, "anyNodeValue"> {
  const required = old?.nodeAffinity?.required;
  if (!required) return {};
  const strict = new FieldErrors();
  const lenient = new FieldErrors();
  validateNodeSelector(required, "", strict);
  validateNodeSelector(required, "", lenient, true);
  return { anyNodeValue: strict.causes.length > lenient.causes.length };
}

/** @param path of the spec, such as `spec` or `spec.source.inlineVolumeSpec` */
export function validateVolumeSpec(spec: Part, path: string, rules: VolumeRules, errors: FieldErrors): void {
  if (rules.inline) checkInline(spec, path, errors);
  checkAccessModes(spec.accessModes ?? [], `${path}.accessModes`, errors);
  if (!rules.inline) {
    checkCapacity(spec.capacity, `${path}.capacity`, errors);
    const { persistentVolumeReclaimPolicy: policy } = spec;
    if (!reclaimPolicies.includes(policy))
      errors.notSupported(`${path}.persistentVolumeReclaimPolicy`, policy, reclaimPolicies);
    if (spec.nodeAffinity) checkNodeAffinity(spec.nodeAffinity, `${path}.nodeAffinity`, rules, errors);
  } else checkInlineChoices(spec, path, errors);
  validateSources(spec, path, rules.name, errors);
  if (spec.hostPath && isRoot(spec.hostPath.path ?? "") && spec.persistentVolumeReclaimPolicy === "Recycle") {
    errors.forbidden(`${path}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'");
  }
  checkClasses(spec, path, rules, errors);
}

const isRoot = (path: string): boolean => /^\/+$/.test(posix.normalize(path));

function checkInline(spec: Part, path: string, errors: FieldErrors): void {
  const notInline = "may not be specified in the context of inline volumes";
  if (spec.claimRef) errors.forbidden(`${path}.claimRef`, notInline);
  if (Object.keys(spec.capacity ?? {}).length > 0) errors.forbidden(`${path}.capacity`, notInline);
  if (!spec.csi) errors.required(`${path}.csi`, "has to be specified in the context of inline volumes");
}

function checkInlineChoices(spec: Part, path: string, errors: FieldErrors): void {
  if ((spec.persistentVolumeReclaimPolicy ?? "Retain") !== "Retain") {
    errors.forbidden(`${path}.persistentVolumeReclaimPolicy`, "may only be Retain in the context of inline volumes");
  }
  if (spec.nodeAffinity)
    errors.forbidden(`${path}.nodeAffinity`, "may not be specified in the context of inline volumes");
}

function checkAccessModes(modes: readonly string[], path: string, errors: FieldErrors): void {
  if (modes.length === 0) errors.required(path);
  validateAccessModes(modes, path, errors);
}

function checkCapacity(capacity: Part | undefined, path: string, errors: FieldErrors): void {
  const amounts = byName(capacity);
  if (amounts.length === 0) errors.required(path);
  if (amounts.length !== 1 || amounts[0]?.[0] !== "storage") {
    errors.notSupported(path, capacity ? Object.fromEntries(amounts) : null, ["storage"]);
  }
  for (const [name, amount] of amounts) {
    const at = `${path}[${name}]`;
    checkBasicResource(amount, at, errors);
    if (!isPositive(amount)) errors.invalid(at, amount, "must be greater than zero");
  }
}

/** Rejects a quantity whose integer value is negative. */
export function checkBasicResource(amount: string, path: string, errors: FieldErrors): void {
  if (!amount.startsWith("-")) return;
  const whole = integerValue(parseQuantity(amount));
  if (whole < 0) errors.invalid(path, whole, "must be a valid resource quantity");
}

function checkNodeAffinity(
  { required }: Part,
  path: string,
  { anyNodeValue = false }: VolumeRules,
  errors: FieldErrors,
): void {
  if (required) validateNodeSelector(required, `${path}.required`, errors, anyNodeValue);
  else errors.required(`${path}.required`, "must specify required node constraints");
}

function checkClasses(spec: Part, path: string, { inline = false }: VolumeRules, errors: FieldErrors): void {
  const { storageClassName = "", volumeMode, volumeAttributesClassName: attributes } = spec;
  if (storageClassName !== "") {
    const at = `${path}.storageClassName`;
    if (inline) errors.forbidden(at, "may not be specified in the context of inline volumes");
    else addInvalid(errors, at, storageClassName, dnsSubdomainProblems(storageClassName));
  }
  if (typeof volumeMode === "string") {
    const at = `${path}.volumeMode`;
    if (!inline && !volumeModes.includes(volumeMode)) errors.notSupported(at, volumeMode, volumeModes);
    if (inline && volumeMode !== "Filesystem") {
      errors.forbidden(at, "may not specify volumeMode other than Filesystem in the context of inline volumes");
    }
  }
  if (inline || typeof attributes !== "string") return; // Upstream skips inline specs.
  const at = `${path}.volumeAttributesClassName`;
  if (attributes === "") errors.required(at, "an empty string is disallowed");
  else addInvalid(errors, at, attributes, dnsSubdomainProblems(attributes));
  if (!spec.csi) errors.required(`${path}.csi`, "has to be specified when using volumeAttributesClassName");
}
