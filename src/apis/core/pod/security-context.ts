/**
 * Validation of the security contexts of pods and containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../../apimachinery/field-errors.ts";
import { goForm } from "../../../catalog/go-form.ts";
import type { Part } from "../../fields.ts";
import { checkDescendingPath } from "./paths.ts";
import { validateSysctls } from "./sysctls.ts";
import { validateWindowsOptions } from "./windows-options.ts";

const idMax = 2 ** 31 - 1;

/** Checks the ID of a user or a group. */
export function checkId(id: number | bigint | undefined, path: string, errors: FieldErrors): void {
  if (id !== undefined && (id < 0 || id > idMax)) errors.invalid(path, id, `must be between 0 and ${idMax}, inclusive`);
}

interface PodSecurityRules {
  readonly hostSysctls: boolean;
  readonly onlyRecursiveRelabeling: boolean;
}

/** @param path of the pod's security context */
export function validatePodSecurity(spec: Part, path: string, rules: PodSecurityRules, errors: FieldErrors): void {
  const context = spec.securityContext ?? {};
  for (const field of ["fsGroup", "runAsUser", "runAsGroup"]) checkId(context[field], `${path}.${field}`, errors);
  for (const [index, group] of (context.supplementalGroups ?? []).entries())
    checkId(group, `${path}.supplementalGroups[${index}]`, errors);
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    errors.invalid(`${path}.shareProcessNamespace`, true, "ShareProcessNamespace and HostPID cannot both be enabled");
  }
  if (context.sysctls) validateSysctls(spec, `${path}.sysctls`, rules.hostSysctls, errors);
  checkChoice(context.fsGroupChangePolicy, `${path}.fsGroupChangePolicy`, ["Always", "OnRootMismatch"], errors);
  if (context.seccompProfile) validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`, errors);
  if (context.windowsOptions) validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`, errors);
  if (context.appArmorProfile) validateAppArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`, errors);
  checkChoice(context.supplementalGroupsPolicy, `${path}.supplementalGroupsPolicy`, ["Merge", "Strict"], errors);
  const relabeling = rules.onlyRecursiveRelabeling ? ["Recursive"] : ["MountOption", "Recursive"];
  checkChoice(context.seLinuxChangePolicy, `${path}.seLinuxChangePolicy`, relabeling, errors);
}

function checkChoice(value: string | undefined, path: string, choices: readonly string[], errors: FieldErrors): void {
  if (value !== undefined && !choices.includes(value)) errors.notSupported(path, value, choices);
}

interface ContainerSecurityRules {
  /** Whether the pod is in the user namespace of its host. */
  readonly hostUsers: boolean;
  readonly forbidsPrivileged: boolean;
}

/** Security context of a container. */
export function validateSecurity(
  context: Part,
  path: string,
  { hostUsers, forbidsPrivileged }: ContainerSecurityRules,
  errors: FieldErrors,
): void {
  const { privileged, runAsUser, runAsGroup, procMount } = context;
  if (privileged === true && forbidsPrivileged) errors.forbidden(`${path}.privileged`, "disallowed by cluster policy");
  checkId(runAsUser, `${path}.runAsUser`, errors);
  checkId(runAsGroup, `${path}.runAsGroup`, errors);
  checkChoice(procMount, `${path}.procMount`, ["Default", "Unmasked"], errors);
  if (hostUsers && procMount === "Unmasked")
    errors.invalid(`${path}.procMount`, procMount, "`hostUsers` must be false to use `Unmasked`");
  if (context.seccompProfile) validateSeccompProfile(context.seccompProfile, `${path}.seccompProfile`, errors);
  if (context.allowPrivilegeEscalation === false) checkNoEscalation(context, path, errors);
  if (context.windowsOptions) validateWindowsOptions(context.windowsOptions, `${path}.windowsOptions`, errors);
  if (context.appArmorProfile) validateAppArmorProfile(context.appArmorProfile, `${path}.appArmorProfile`, errors);
}

function checkNoEscalation(context: Part, path: string, errors: FieldErrors): void {
  const conflict = "cannot set `allowPrivilegeEscalation` to false and";
  if (context.privileged === true)
    errors.invalid(path, goForm("SecurityContext", context), `${conflict} \`privileged\` to true`);
  for (const capability of context.capabilities?.add ?? []) {
    if (capability !== "CAP_SYS_ADMIN") continue;
    errors.invalid(path, goForm("SecurityContext", context), `${conflict} \`capabilities.Add\` CAP_SYS_ADMIN`);
  }
}

const profileTypes = ["Localhost", "RuntimeDefault", "Unconfined"];

function validateSeccompProfile(profile: Part, path: string, errors: FieldErrors): void {
  const { type = "", localhostProfile } = profile;
  if (type === "") errors.required(`${path}.type`, "type is required when seccompProfile is set");
  else checkChoice(type, `${path}.type`, profileTypes, errors);
  const at = `${path}.localhostProfile`;
  if (type !== "Localhost") {
    if (localhostProfile !== undefined)
      errors.invalid(at, goForm("SeccompProfile", profile), "can only be set when seccomp type is Localhost");
  } else if (localhostProfile === undefined) errors.required(at, "must be set when seccomp type is Localhost");
  else checkDescendingPath(localhostProfile, at, errors);
}

const profileBytesMax = 4095;

export function validateAppArmorProfile(
  { type = "", localhostProfile }: Part,
  path: string,
  errors: FieldErrors,
): void {
  if (type === "Localhost") validateLocalProfile(localhostProfile, `${path}.localhostProfile`, errors);
  else if (type === "") errors.required(`${path}.type`, "type is required when appArmorProfile is set");
  else if (!profileTypes.includes(type)) errors.notSupported(`${path}.type`, type, profileTypes);
  else if (localhostProfile !== undefined) {
    errors.invalid(
      `${path}.localhostProfile`,
      typedText(localhostProfile),
      "can only be set when AppArmor type is Localhost",
    );
  }
}

function validateLocalProfile(profile: string | undefined, path: string, errors: FieldErrors): void {
  const trimmed = profile?.trim();
  if (profile !== undefined && trimmed !== profile) errors.invalid(path, profile, "must not be padded with whitespace");
  else if (profile === undefined || profile === "")
    errors.required(path, "must be set when AppArmor type is Localhost");
  if (profile !== undefined && Buffer.byteLength(profile) > profileBytesMax) errors.tooLong(path, profileBytesMax);
}
