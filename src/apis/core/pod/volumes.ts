/**
 * Validation of the volumes of a pod: names and sources.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";
import { isLongPortal, longPortal } from "./iscsi.ts";
import type { Volumes } from "./mounts.ts";
import { type SourceRules, sourcePath, volumeSources } from "./volume-sources.ts";

/**
 * @param podName prefix of the names of generated claims; empty in templates
 * @returns the valid volumes by name
 */
export function validateVolumes(
  volumes: readonly Part[],
  path: string,
  podName: string,
  rules: SourceRules,
  errors: FieldErrors,
): Volumes {
  const valid = new Map<string, Part>();
  const generatedClaims = new Set(
    podName === "" ? [] : volumes.filter(({ ephemeral }) => ephemeral).map(({ name = "" }) => `${podName}-${name}`),
  );
  for (const [index, volume] of volumes.entries()) {
    const at = `${path}[${index}]`;
    const { name = "", persistentVolumeClaim } = volume;
    const before = errors.causes.length;
    validateSource(volume, at, podName, rules, errors);
    if (name === "") errors.required(`${at}.name`);
    else addInvalid(errors, `${at}.name`, name, dnsLabelProblems(name));
    if (valid.has(name)) errors.duplicate(`${at}.name`, name);
    if (errors.causes.length === before) valid.set(name, volume);
    const claim = persistentVolumeClaim?.claimName ?? "";
    if (generatedClaims.has(claim)) {
      errors.invalid(
        `${at}.persistentVolumeClaim.claimName`,
        claim,
        "must not reference a PVC that gets created for an ephemeral volume",
      );
    }
  }
  return valid;
}

/** Upstream's spelling in the error for a second source. */
const misspelt: ReadonlyMap<string, string> = new Map([
  ["cephfs", "cephFS"],
  ["downwardAPI", "downwarAPI"],
]);

const sourcesByField = new Map(volumeSources.map((source) => [source[0], source]));

function validateSource(volume: Part, path: string, podName: string, rules: SourceRules, errors: FieldErrors): void {
  let found = false;
  for (const [field, validate] of sourcesOf(volume)) {
    const source = volume[field];
    if (found) errors.forbidden(`${path}.${misspelt.get(field) ?? field}`, "may not specify more than 1 volume type");
    else {
      validate(source, `${path}.${sourcePath(field)}`, errors, rules);
      if (field === "ephemeral") checkClaimName(volume.name ?? "", podName, path, errors);
    }
    if (field === "iscsi") checkPortal(volume, path, errors);
    found = true;
  }
  if (!found) errors.required(path, "must specify a volume type");
}

/** The sources of a volume, in upstream's order. There are 30 kinds, and nearly all volumes have one source. */
function sourcesOf(volume: Part): typeof volumeSources {
  const found: (typeof volumeSources)[number][] = [];
  for (const field in volume) {
    const source = sourcesByField.get(field);
    if (source !== undefined && volume[field] !== undefined) found.push(source);
  }
  return found.length > 1 ? volumeSources.filter((source) => found.includes(source)) : found;
}

/** The generated claim is named after the pod and the volume. */
function checkClaimName(volume: string, podName: string, path: string, errors: FieldErrors): void {
  if (podName === "" || volume === "") return;
  const claim = `${podName}-${volume}`;
  for (const problem of dnsSubdomainProblems(claim))
    errors.invalid(`${path}.name`, volume, `PVC name ${quoteGo(claim)}: ${problem}`);
}

function checkPortal({ name = "", iscsi }: Part, path: string, errors: FieldErrors): void {
  if (iscsi.initiatorName === undefined || !isLongPortal(name, iscsi.targetPortal ?? "")) return;
  errors.invalid(`${path}.name`, name, longPortal);
}
