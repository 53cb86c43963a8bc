/**
 * Validation of container statuses: users, health of devices, and digests of images.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";
import type { PodOptions } from "./options.ts";
import { checkId } from "./security-context.ts";

const fields = ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"];

export function validateContainerStatuses(
  status: Part,
  spec: Part,
  { imageDigests }: PodOptions,
  errors: FieldErrors,
): void {
  for (const field of fields) validateUsers(items(status[field]), `status.${field}`, spec.os?.name ?? "linux", errors);
  validateDevices(items(status.containerStatuses), "status.containerStatuses", items(spec.containers), errors);
  validateDevices(
    items(status.initContainerStatuses),
    "status.initContainerStatuses",
    items(spec.initContainers),
    errors,
  );
  for (const [index, { allocatedResourcesStatus }] of items(status.ephemeralContainerStatuses).entries()) {
    if (items(allocatedResourcesStatus).length === 0) continue;
    errors.forbidden(
      `status.ephemeralContainerStatuses[${index}].allocatedResourcesStatus`,
      "must not be specified in container status",
    );
  }
  if (imageDigests) for (const field of fields) validateImages(items(status[field]), `status.${field}`, errors);
}

function validateUsers(statuses: readonly Part[], path: string, os: string, errors: FieldErrors): void {
  for (const [index, { user }] of statuses.entries()) {
    const at = `${path}[${index}].user.linux`;
    if (!user?.linux) continue;
    if (os === "windows") errors.forbidden(at, "cannot be set for a windows pod");
    if (os !== "linux") continue;
    checkId(user.linux.uid ?? 0, `${at}.uid`, errors);
    checkId(user.linux.gid ?? 0, `${at}.gid`, errors);
    for (const [place, group] of (user.linux.supplementalGroups ?? []).entries())
      checkId(group, `${at}.supplementalGroups[${place}]`, errors);
  }
}

const healths = ["Healthy", "Unhealthy", "Unknown"];
const messageBytesMax = 1024;

function validateDevices(
  statuses: readonly Part[],
  path: string,
  containers: readonly Part[],
  errors: FieldErrors,
): void {
  if (!statuses.some(({ allocatedResourcesStatus }) => allocatedResourcesStatus)) return;
  const requestedNames = new Map(containers.toReversed().map((container) => [container.name, namesOf(container)]));
  for (const [index, { name, allocatedResourcesStatus }] of statuses.entries()) {
    const names = requestedNames.get(name);
    for (const [place, allocated] of items(allocatedResourcesStatus).entries()) {
      const at = `${path}[${index}].allocatedResourcesStatus[${place}]`;
      if (names !== undefined) checkRequested(allocated.name ?? "", names, `${at}.name`, errors);
      validateHealth(items(allocated.resources), `${at}.resources`, errors);
    }
  }
}

/** @returns what a container requests, such as `cpu` and `claim:name/request` */
function namesOf({ resources }: Part): ReadonlySet<string> {
  const claims = items(resources?.claims).map(
    (claim) => `claim:${claim.name ?? ""}${claim.request ? `/${claim.request}` : ""}`,
  );
  return new Set([...Object.keys(resources?.requests ?? {}), ...claims]);
}

function checkRequested(name: string, names: ReadonlySet<string>, path: string, errors: FieldErrors): void {
  if (names.has(name)) return;
  const form = "in a format 'claim:<claimName>/<request>' or 'claim:<claimName>' if request is empty";
  const what = name.startsWith("claim:") ? `resource claims ${form}` : "resource requests";
  errors.invalid(path, name, `must match one of the container's ${what}`);
}

function validateHealth(resources: readonly Part[], path: string, errors: FieldErrors): void {
  const ids = new Set<string>();
  for (const [index, { resourceID = "", health = "", message }] of resources.entries()) {
    const at = `${path}[${index}]`;
    if (!healths.includes(health)) errors.notSupported(`${at}.health`, health, healths);
    if (message === "") errors.required(`${at}.message`, "must be non-empty if specified");
    else if (message !== undefined && Buffer.byteLength(message) > messageBytesMax)
      errors.tooLong(`${at}.message`, messageBytesMax);
    if (ids.has(resourceID)) errors.duplicate(`${at}.resourceID`, resourceID);
    ids.add(resourceID);
  }
}

const referenceBytesMax = 256;

function validateImages(statuses: readonly Part[], path: string, errors: FieldErrors): void {
  for (const [index, { volumeMounts }] of statuses.entries()) {
    for (const [place, { volumeStatus }] of items(volumeMounts).entries()) {
      if (!volumeStatus?.image) continue;
      const { imageRef = "" } = volumeStatus.image;
      const at = `${path}[${index}].volumeMounts[${place}].volumeStatus.imageVolumeStatus.imageRef`;
      if (imageRef === "") errors.required(at, "imageRef must not be empty");
      if (Buffer.byteLength(imageRef) > referenceBytesMax) errors.tooLong(at, referenceBytesMax);
    }
  }
}
