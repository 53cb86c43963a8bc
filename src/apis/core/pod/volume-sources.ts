/**
 * Validation of the volume sources of pods, in upstream's order.
 * Persistent volumes share some of them.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, plainText } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateCsiDriverName } from "../../storage/driver-name.ts";
import { validateClaimTemplate } from "./claim-template.ts";
import { validateIscsi } from "./iscsi.ts";
import { checkDescendingPath, checkNoBacksteps } from "./paths.ts";
import { checkMode, validateDownwardFile, validateKeyToPath, validateProjected } from "./projected.ts";
import { partitioned, requires } from "./source-fields.ts";

export interface SourceRules {
  readonly isPod: boolean;
  readonly anyTokenPath: boolean;
}

type SourceValidator = (source: Part, path: string, errors: FieldErrors, rules: SourceRules) => void;

export const volumeSources: readonly (readonly [field: string, validate: SourceValidator])[] = [
  ["emptyDir", validateEmptyDir],
  ["hostPath", validateHostPath],
  ["gitRepo", validateGitRepo],
  ["gcePersistentDisk", partitioned("pdName")],
  ["awsElasticBlockStore", partitioned("volumeID")],
  ["secret", validateSecret],
  ["nfs", validateNfs],
  ["iscsi", (source, path, errors) => validateIscsi(source, path, errors)],
  ["glusterfs", requires("endpoints", "path")],
  ["flocker", validateFlocker],
  ["persistentVolumeClaim", requires("claimName")],
  ["rbd", requires("monitors", "image")],
  ["cinder", validateCinder],
  ["cephfs", requires("monitors")],
  ["quobyte", validateQuobyte],
  ["downwardAPI", validateDownwardApi],
  ["fc", validateFc],
  ["flexVolume", validateFlex],
  ["configMap", validateConfigMap],
  ["azureFile", requires("secretName", "shareName")],
  ["vsphereVolume", requires("volumePath")],
  ["photonPersistentDisk", requires("pdID")],
  ["portworxVolume", requires("volumeID")],
  ["azureDisk", validateAzureDisk],
  ["storageos", validateStorageOs],
  ["projected", validateProjected],
  ["scaleIO", requires("gateway", "system", "volumeName")],
  ["csi", validateCsi],
  ["ephemeral", validateEphemeral],
  ["image", validateImage],
];

/** Name of a source in error paths; one differs from its field. */
export const sourcePath = (field: string): string => (field === "gcePersistentDisk" ? "persistentDisk" : field);

function validateEmptyDir({ sizeLimit }: Part, path: string, errors: FieldErrors): void {
  if (sizeLimit?.startsWith("-"))
    errors.forbidden(`${path}.sizeLimit`, "SizeLimit field must be a valid resource quantity");
}

const hostPathTypes = [
  "",
  "BlockDevice",
  "CharDevice",
  "Directory",
  "DirectoryOrCreate",
  "File",
  "FileOrCreate",
  "Socket",
];

/** Validates a hostPath source, of a pod volume or a persistent volume. */
export function validateHostPath({ path: host = "", type }: Part, path: string, errors: FieldErrors): void {
  if (host === "") return errors.required(`${path}.path`);
  checkNoBacksteps(host, `${path}.path`, errors);
  if (type !== undefined && !hostPathTypes.includes(type)) errors.notSupported(`${path}.type`, type, hostPathTypes);
}

function validateGitRepo({ repository = "", directory = "" }: Part, path: string, errors: FieldErrors): void {
  if (repository === "") errors.required(`${path}.repository`);
  checkDescendingPath(directory, `${path}.directory`, errors);
}

function validateSecret({ secretName = "", defaultMode, items: files }: Part, path: string, errors: FieldErrors): void {
  if (secretName === "") errors.required(`${path}.secretName`);
  validateFiles(defaultMode, files, path, errors);
}

function validateConfigMap({ name = "", defaultMode, items: files }: Part, path: string, errors: FieldErrors): void {
  if (name === "") errors.required(`${path}.name`);
  validateFiles(defaultMode, files, path, errors);
}

function validateFiles(defaultMode: number | undefined, files: unknown, path: string, errors: FieldErrors): void {
  checkMode(defaultMode, `${path}.defaultMode`, errors);
  for (const [index, file] of items(files).entries()) validateKeyToPath(file, `${path}.items[${index}]`, errors);
}

function validateDownwardApi({ defaultMode, items: files }: Part, path: string, errors: FieldErrors): void {
  checkMode(defaultMode, `${path}.defaultMode`, errors);
  for (const file of items(files)) validateDownwardFile(file, path, errors);
}

/** Validates an NFS source, of a pod volume or a persistent volume. */
export function validateNfs({ server = "", path: exported = "" }: Part, path: string, errors: FieldErrors): void {
  if (server === "") errors.required(`${path}.server`);
  if (exported === "") errors.required(`${path}.path`);
  if (!exported.startsWith("/")) errors.invalid(`${path}.path`, exported, "must be an absolute path");
}

/** Validates a Flocker source, of a pod volume or a persistent volume. */
export function validateFlocker({ datasetName = "", datasetUUID = "" }: Part, path: string, errors: FieldErrors): void {
  if (datasetName === "" && datasetUUID === "") errors.required(path, "one of datasetName and datasetUUID is required");
  if (datasetName !== "" && datasetUUID !== "") {
    errors.invalid(path, "resource", "datasetName and datasetUUID can not be specified simultaneously");
  }
  if (datasetName.includes("/")) errors.invalid(`${path}.datasetName`, datasetName, "must not contain '/'");
}

function validateCinder(source: Part, path: string, errors: FieldErrors): void {
  requires("volumeID")(source, path, errors);
  if (source.secretRef && (source.secretRef.name ?? "") === "") errors.required(`${path}.secretRef.name`);
}

const tenantBytesMax = 64;

/** Validates a Quobyte source, of a pod volume or a persistent volume. */
export function validateQuobyte(
  { registry = "", tenant = "", volume = "" }: Part,
  path: string,
  errors: FieldErrors,
): void {
  const pairs = "must be a host:port pair or multiple pairs separated by commas";
  if (registry === "") errors.required(`${path}.registry`, pairs);
  else if (Buffer.byteLength(tenant) > tenantBytesMax) {
    errors.required(`${path}.tenant`, `must be a UUID and may not exceed a length of ${tenantBytesMax} characters`);
  } else
    for (const pair of registry.split(",")) if (!isHostPort(pair)) errors.invalid(`${path}.registry`, registry, pairs);
  if (volume === "") errors.required(`${path}.volume`);
}

/** As Go splits them: `host:port` or `[host]:port`, where both parts may be empty. */
function isHostPort(text: string): boolean {
  return /^[^:[\]]*:[^:[\]]*$/.test(text) || /^\[[^[\]]*\]:[^:[\]]*$/.test(text);
}

/** Validates a Fibre Channel source, of a pod volume or a persistent volume. */
export function validateFc({ targetWWNs = [], wwids = [], lun }: Part, path: string, errors: FieldErrors): void {
  if (targetWWNs.length === 0 && wwids.length === 0)
    errors.required(`${path}.targetWWNs`, "must specify either targetWWNs or wwids, but not both");
  if (targetWWNs.length === 0) return;
  if (wwids.length > 0)
    errors.invalid(`${path}.targetWWNs`, targetWWNs, "targetWWNs and wwids can not be specified simultaneously");
  if (lun === undefined) errors.required(`${path}.lun`, "lun is required if targetWWNs is specified");
  else if (lun < 0 || lun > 255) errors.invalid(`${path}.lun`, lun, "must be between 0 and 255, inclusive");
}

/** Validates a FlexVolume source, of a pod volume or a persistent volume. */
export function validateFlex({ driver = "", options }: Part, path: string, errors: FieldErrors): void {
  if (driver === "") errors.required(`${path}.driver`);
  for (const key of Object.keys(options ?? {})) {
    const domain = `.${key.split("/", 1)[0]?.toLowerCase()}`;
    if (!domain.endsWith(".kubernetes.io") && !domain.endsWith(".k8s.io")) continue;
    errors.invalid(`${path}.options[${key}]`, key, "kubernetes.io and k8s.io namespaces are reserved");
  }
}

const cachingModes = ["None", "ReadOnly", "ReadWrite"];
const diskKinds = ["Dedicated", "Managed", "Shared"];
const managedDisks = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}";
const blobDisks = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd";

/** Validates an AzureDisk source, of a pod volume or a persistent volume. */
export function validateAzureDisk(
  { diskName = "", diskURI = "", cachingMode, kind }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (diskName === "") errors.required(`${path}.diskName`);
  if (diskURI === "") errors.required(`${path}.diskURI`);
  if (cachingMode !== undefined && !cachingModes.includes(cachingMode))
    errors.notSupported(`${path}.cachingMode`, cachingMode, cachingModes);
  if (kind === undefined) return;
  if (!diskKinds.includes(kind)) errors.notSupported(`${path}.kind`, kind, diskKinds);
  if (kind === "Managed") {
    if (!diskURI.startsWith("/subscriptions/"))
      errors.notSupported(`${path}.diskURI`, plainText(diskURI), [managedDisks]);
  } else if (!diskURI.startsWith("https://")) errors.notSupported(`${path}.diskURI`, plainText(diskURI), [blobDisks]);
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
  if (secretRef && (secretRef.name ?? "") === "") errors.required(`${path}.secretRef.name`);
}

function validateCsi({ driver = "", nodePublishSecretRef }: Part, path: string, errors: FieldErrors): void {
  validateCsiDriverName(driver, `${path}.driver`, errors.uncovered());
  if (!nodePublishSecretRef) return;
  const { name = "" } = nodePublishSecretRef;
  if (name === "") errors.required(`${path}.nodePublishSecretRef.name`);
  else addInvalid(errors, `${path}.name`, name, dnsSubdomainProblems(name));
}

function validateEphemeral({ volumeClaimTemplate }: Part, path: string, errors: FieldErrors): void {
  if (volumeClaimTemplate) validateClaimTemplate(volumeClaimTemplate, `${path}.volumeClaimTemplate`, errors);
  else errors.required(`${path}.volumeClaimTemplate`);
}

const pullPolicies = ["Always", "IfNotPresent", "Never"];

export function validatePullPolicy(policy: string, path: string, errors: FieldErrors): void {
  if (policy === "") errors.required(path);
  else if (!pullPolicies.includes(policy)) errors.notSupported(path, policy, pullPolicies);
}

function validateImage(
  { reference = "", pullPolicy = "" }: Part,
  path: string,
  errors: FieldErrors,
  { isPod }: SourceRules,
): void {
  if (isPod && reference === "") errors.required(`${path}.reference`);
  validatePullPolicy(pullPolicy, `${path}.pullPolicy`, errors);
}
