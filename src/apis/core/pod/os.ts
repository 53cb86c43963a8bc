/**
 * Fields that a pod cannot have because of its operating system.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { Part } from "../../fields.ts";
import { visitContainers } from "./visit-containers.ts";

const systems = ["linux", "windows"];

/** @param path of the spec, which has `os` */
export function validateOs(spec: Part, path: string, errors: FieldErrors): void {
  const { name = "" } = spec.os;
  if (name === "") errors.required(`${path}.os.name`);
  else if (name === "linux") validateLinux(spec, path, errors);
  else if (name === "windows") validateWindows(spec, path, errors);
  else errors.notSupported(`${path}.os`, name, systems);
}

function validateLinux(spec: Part, path: string, errors: FieldErrors): void {
  const check = (context: Part | undefined, at: string): void => {
    if (context?.windowsOptions)
      errors.forbidden(`${at}.securityContext.windowsOptions`, "windows options cannot be set for a linux pod");
  };
  check(spec.securityContext, path);
  visitContainers(spec, path, ({ securityContext }, at) => check(securityContext, at));
}

/** In upstream's order. Names without a dot are fields of the spec. */
const linuxPodFields = [
  ...[
    "securityContext.appArmorProfile",
    "securityContext.seLinuxOptions",
    "hostUsers",
    "hostPID",
    "hostIPC",
    "securityContext.seccompProfile",
  ],
  ...[
    "securityContext.fsGroup",
    "securityContext.fsGroupChangePolicy",
    "securityContext.sysctls",
    "shareProcessNamespace",
  ],
  ...["securityContext.runAsUser", "securityContext.runAsGroup", "securityContext.supplementalGroups"],
  ...["securityContext.supplementalGroupsPolicy", "securityContext.seLinuxChangePolicy"],
];

const linuxContainerFields = [
  ...["appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem", "privileged"],
  ...["allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"],
];

/** Fields that count as set only if true, because they are not pointers in Go. */
const mustBeTrue = ["hostPID", "hostIPC"];

function validateWindows(spec: Part, path: string, errors: FieldErrors): void {
  const why = "cannot be set for a windows pod";
  for (const field of linuxPodFields) {
    const name = field.replace("securityContext.", "");
    const value = name === field ? spec[field] : spec.securityContext?.[name];
    const isSet = mustBeTrue.includes(field)
      ? value === true
      : name === "sysctls"
        ? (value ?? []).length > 0
        : value !== undefined;
    if (isSet) errors.forbidden(`${path}.${field}`, why);
  }
  visitContainers(spec, path, ({ securityContext }, at) => {
    if (!securityContext) return;
    for (const field of linuxContainerFields)
      if (securityContext[field] !== undefined) errors.forbidden(`${at}.securityContext.${field}`, why);
  });
}
