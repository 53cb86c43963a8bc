/**
 * Validation of the volume mounts and volume devices of containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";
import { checkDescendingPath, hasBackstep } from "./paths.ts";

/** The valid volumes of the pod, by name. */
export type Volumes = ReadonlyMap<string, Part>;

/** @param path of the container */
export function validateMounts(container: Part, path: string, volumes: Volumes, errors: FieldErrors): void {
  const { volumeMounts, volumeDevices } = container;
  if (volumeMounts) validateVolumeMounts(container, `${path}.volumeMounts`, volumes, errors);
  if (volumeDevices) validateVolumeDevices(container, `${path}.volumeDevices`, volumes, errors);
}

function validateVolumeMounts(container: Part, path: string, volumes: Volumes, errors: FieldErrors): void {
  const taken = new Set<string>();
  const devices: ReadonlyMap<string, string> | undefined =
    container.volumeDevices &&
    new Map(items(container.volumeDevices).map(({ name = "", devicePath = "" }) => [name, devicePath]));
  const devicePaths = devices && new Set(devices.values());
  for (const [index, mount] of items(container.volumeMounts).entries()) {
    const { name = "", mountPath = "" } = mount;
    const at = `${path}[${index}]`;
    if (name === "") errors.required(`${at}.name`);
    if (!volumes.has(name)) errors.notFound(`${at}.name`, name);
    if (mountPath === "") errors.required(`${at}.mountPath`);
    if (taken.has(mountPath)) errors.invalid(`${at}.mountPath`, mountPath, "must be unique");
    taken.add(mountPath);
    if (devices?.has(name)) errors.invalid(`${at}.name`, name, "must not already exist in volumeDevices");
    if (devicePaths?.has(mountPath))
      errors.invalid(`${at}.mountPath`, mountPath, "must not already exist as a path in volumeDevices");
    validateSubPaths(mount, at, path, errors);
    validatePropagation(mount, container, path, errors);
    validateRecursiveReadOnly(mount, `${path}.recursiveReadOnly`, errors);
  }
}

/** @param list path of all mounts, which upstream uses in these errors */
function validateSubPaths(
  { subPath = "", subPathExpr = "" }: Part,
  path: string,
  list: string,
  errors: FieldErrors,
): void {
  if (subPath !== "") checkDescendingPath(subPath, `${list}.subPath`, errors);
  if (subPathExpr === "") return;
  if (subPath !== "")
    errors.invalid(`${path}.subPathExpr`, subPathExpr, "subPathExpr and subPath are mutually exclusive");
  checkDescendingPath(subPathExpr, `${list}.subPathExpr`, errors);
}

const propagations = ["Bidirectional", "HostToContainer", "None"];

function validatePropagation(
  { mountPropagation }: Part,
  { securityContext }: Part,
  list: string,
  errors: FieldErrors,
): void {
  if (mountPropagation === undefined) return;
  const at = `${list}.mountPropagation`;
  if (!propagations.includes(mountPropagation)) errors.notSupported(at, mountPropagation, propagations);
  if (mountPropagation === "Bidirectional" && securityContext?.privileged !== true) {
    errors.forbidden(at, "Bidirectional mount propagation is available only to privileged containers");
  }
}

const recursiveModes = ["Disabled", "Enabled", "IfPossible"];

function validateRecursiveReadOnly(
  { recursiveReadOnly: mode, readOnly, mountPropagation = "None" }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (mode === undefined || mode === "Disabled") return;
  if (!recursiveModes.includes(mode)) return errors.notSupported(path, mode, recursiveModes);
  if (readOnly !== true) errors.forbidden(path, "may only be specified when readOnly is true");
  if (mountPropagation !== "None")
    errors.forbidden(path, "may only be specified when mountPropagation is None or not specified");
}

function validateVolumeDevices(
  { volumeMounts, volumeDevices }: Part,
  path: string,
  volumes: Volumes,
  errors: FieldErrors,
): void {
  const [names, paths] = [new Set<string>(), new Set<string>()];
  const mounts = new Map(items(volumeMounts).map(({ name = "", mountPath = "" }) => [name, mountPath]));
  const mountPaths = new Set(mounts.values());
  for (const [index, { name = "", devicePath = "" }] of items(volumeDevices).entries()) {
    const [nameAt, pathAt] = [`${path}[${index}].name`, `${path}[${index}].devicePath`];
    const volume = volumes.get(name);
    if (name === "") errors.required(nameAt);
    if (names.has(name)) errors.invalid(nameAt, name, "must be unique");
    if (volume === undefined) errors.notFound(nameAt, name);
    else if (!volume.persistentVolumeClaim && !volume.ephemeral) {
      errors.invalid(
        nameAt,
        name,
        "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode",
      );
    }
    if (devicePath === "") errors.required(pathAt);
    if (paths.has(devicePath)) errors.invalid(pathAt, devicePath, "must be unique");
    if (hasBackstep(devicePath)) errors.invalid(pathAt, devicePath, "can not contain backsteps ('..')");
    else paths.add(devicePath);
    if (mounts.has(name)) errors.invalid(nameAt, name, "must not already exist in volumeMounts");
    if (mountPaths.has(devicePath))
      errors.invalid(pathAt, devicePath, "must not already exist as a path in volumeMounts");
    if (name !== "") names.add(name);
  }
}
