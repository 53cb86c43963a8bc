/**
 * Validation of the sources of persistent volumes, in upstream's order.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import type { Part } from "../../fields.ts";
import { validateCsiDriverName } from "../../storage/driver-name.ts";
import { isIscsiName, isLongPortal, longPortal } from "../pod/iscsi.ts";
import { checkNoBacksteps } from "../pod/paths.ts";
import { partitioned, requires } from "../pod/source-fields.ts";
import {
  validateAzureDisk,
  validateFc,
  validateFlex,
  validateFlocker,
  validateHostPath,
  validateNfs,
  validateQuobyte,
} from "../pod/volume-sources.ts";

interface Source {
  readonly field: string;
  /** Name in error paths, if it is not the field's name. */
  readonly shown?: string;
  /** Name in the path of the error for a second source, if it differs again. */
  readonly shownAsSecond?: string;
  /** @param volume name of the volume */
  validate(source: Part, path: string, errors: FieldErrors, volume: string): void;
}

const of = (
  field: string,
  validate: (source: Part, path: string, errors: FieldErrors, volume: string) => void,
): Source => ({ field, validate });

const sources: readonly Source[] = [
  of("hostPath", validateHostPath),
  { ...of("gcePersistentDisk", partitioned("pdName")), shown: "persistentDisk", shownAsSecond: "gcePersistentDisk" },
  of("awsElasticBlockStore", partitioned("volumeID")),
  of("glusterfs", validateGlusterfs),
  of("flocker", validateFlocker),
  of("nfs", validateNfs),
  of("rbd", requires("monitors", "image")),
  of("quobyte", validateQuobyte),
  { ...of("cephfs", requires("monitors")), shownAsSecond: "cephFS" },
  of("iscsi", validateIscsi),
  of("cinder", validateCinder),
  of("fc", validateFc),
  of("flexVolume", validateFlex),
  of("azureFile", validateAzureFile),
  of("vsphereVolume", requires("volumePath")),
  of("photonPersistentDisk", requires("pdID")),
  of("portworxVolume", requires("volumeID")),
  of("azureDisk", validateAzureDisk),
  of("scaleIO", requires("gateway", "system", "volumeName")),
  of("local", validateLocal),
  of("storageos", validateStorageOs),
  of("csi", validateCsi),
];

/** Requires exactly one source. @param path of the volume's spec @param name of the volume */
export function validateSources(spec: Part, path: string, name: string, errors: FieldErrors): void {
  let count = 0;
  for (const { field, shown = field, shownAsSecond = shown, validate } of sources) {
    const source = spec[field];
    if (!source) continue;
    // Upstream accepts flexVolume in addition to another source.
    if (count > 0 && field !== "flexVolume") {
      errors.forbidden(`${path}.${shownAsSecond}`, "may not specify more than 1 volume type");
      continue;
    }
    count++;
    validate(source, `${path}.${shown}`, errors, name);
    if (field === "local" && !spec.nodeAffinity)
      errors.required(`${path}.nodeAffinity`, "Local volume requires node affinity");
  }
  if (count === 0) errors.required(path, "must specify a volume type");
}

function validateGlusterfs(source: Part, path: string, errors: FieldErrors): void {
  for (const field of ["endpoints", "path"]) if ((source[field] ?? "") === "") errors.required(`${path}.${field}`);
  const { endpointsNamespace: namespace } = source;
  if (typeof namespace !== "string") return;
  const at = `${path}.endpointsNamespace`;
  if (namespace === "")
    errors.invalid(at, namespace, "if the endpointnamespace is set, it must be a valid namespace name");
  else addInvalid(errors, at, namespace, dnsLabelProblems(namespace));
}

function validateIscsi(source: Part, path: string, errors: FieldErrors, volume: string): void {
  const { targetPortal = "", iqn = "", lun = 0, chapAuthDiscovery, chapAuthSession, secretRef, initiatorName } = source;
  if (targetPortal === "") errors.required(`${path}.targetPortal`);
  if (typeof initiatorName === "string" && isLongPortal(volume, targetPortal))
    errors.invalid(`${path}.targetportal`, targetPortal, longPortal);
  if (iqn === "") errors.required(`${path}.iqn`);
  else checkIscsiName(iqn, `${path}.iqn`, errors);
  if (lun < 0 || lun > 255) errors.invalid(`${path}.lun`, lun, "must be between 0 and 255, inclusive");
  if ((chapAuthDiscovery === true || chapAuthSession === true) && !secretRef) errors.required(`${path}.secretRef`);
  if (secretRef && (secretRef.name ?? "") === "") errors.required(`${path}.secretRef.name`);
  if (typeof initiatorName === "string") checkIscsiName(initiatorName, `${path}.initiatorname`, errors);
}

function checkIscsiName(name: string, path: string, errors: FieldErrors): void {
  if (!/^(iqn|eui|naa)/.test(name) || !isIscsiName(name)) errors.invalid(path, name, "must be valid format");
}

function validateCinder({ volumeID = "", secretRef }: Part, path: string, errors: FieldErrors): void {
  if (volumeID === "") errors.required(`${path}.volumeID`);
  requireReference(secretRef, `${path}.secretRef`, errors);
}

function requireReference(reference: Part | undefined, path: string, errors: FieldErrors): void {
  if (!reference) return;
  for (const field of ["name", "namespace"]) if ((reference[field] ?? "") === "") errors.required(`${path}.${field}`);
}

function validateAzureFile(
  { secretName = "", shareName = "", secretNamespace }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (secretName === "") errors.required(`${path}.secretName`);
  if (shareName === "") errors.required(`${path}.shareName`);
  if (secretNamespace === "") errors.required(`${path}.secretNamespace`);
}

function validateLocal({ path: host = "" }: Part, path: string, errors: FieldErrors): void {
  if (host === "") errors.required(`${path}.path`);
  else checkNoBacksteps(host, `${path}.path`, errors);
}

function validateStorageOs(
  { volumeName = "", volumeNamespace = "", secretRef }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (volumeName === "") errors.required(`${path}.volumeName`);
  else addInvalid(errors, `${path}.volumeName`, volumeName, dnsLabelProblems(volumeName));
  if (volumeNamespace !== "")
    addInvalid(errors, `${path}.volumeNamespace`, volumeNamespace, dnsLabelProblems(volumeNamespace));
  requireReference(secretRef, `${path}.secretRef`, errors);
}

const csiSecrets = [
  "controllerPublishSecretRef",
  "controllerExpandSecretRef",
  "nodePublishSecretRef",
  "nodeExpandSecretRef",
];

function validateCsi(source: Part, path: string, errors: FieldErrors): void {
  validateCsiDriverName(source.driver ?? "", `${path}.driver`, errors.uncovered());
  if ((source.volumeHandle ?? "") === "") errors.required(`${path}.volumeHandle`);
  for (const field of csiSecrets) {
    if (!source[field]) continue;
    const { name = "", namespace = "" } = source[field];
    if (name === "") errors.required(`${path}.${field}.name`);
    else addInvalid(errors, `${path}.${field}.name`, name, dnsSubdomainProblems(name));
    if (namespace === "") errors.required(`${path}.${field}.namespace`);
    else addInvalid(errors, `${path}.${field}.namespace`, namespace, dnsLabelProblems(namespace));
  }
}
