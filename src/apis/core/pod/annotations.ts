/**
 * Validation of annotations of pods: deprecated profiles and tolerations, mirror pods and the
 * deletion cost.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { mirrorAnnotation } from "../../../apimachinery/pod-references.ts";
import { JsonSyntaxError, parseDocument } from "../../../lib/json/parse.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { isObject } from "../../../lib/json/values.ts";
import type { Part } from "../../fields.ts";
import { checkDescendingPath } from "./paths.ts";
import { type TolerationRules, validateTolerations } from "./tolerations.ts";
import { visitContainers } from "./visit-containers.ts";

type Annotations = Readonly<Record<string, string>> | undefined;

const tolerationsKey = "scheduler.alpha.kubernetes.io/tolerations";
const deletionCostKey = "controller.kubernetes.io/pod-deletion-cost";
export const seccompPodKey = "seccomp.security.alpha.kubernetes.io/pod";
export const seccompContainerPrefix = "container.seccomp.security.alpha.kubernetes.io/";
export const appArmorPrefix = "container.apparmor.security.beta.kubernetes.io/";

const initContainerKeys = [
  ...["pod.beta.kubernetes.io/init-containers", "pod.alpha.kubernetes.io/init-containers"],
  ...["pod.beta.kubernetes.io/init-container-statuses", "pod.alpha.kubernetes.io/init-container-statuses"],
];

/** Drops the annotations that preceded the field `initContainers`. */
export function dropInitContainerAnnotations(metadata: { annotations?: Record<string, string> } | undefined): void {
  const annotations = metadata?.annotations;
  if (annotations !== undefined)
    for (const key of initContainerKeys) if (Object.hasOwn(annotations, key)) delete annotations[key];
}

/** Validates annotations of a pod or a template. @param path of the annotations */
export function validatePodAnnotations(
  annotations: Annotations,
  spec: Part,
  path: string,
  rules: TolerationRules & { readonly anyDeletionCost: boolean },
  errors: FieldErrors,
): void {
  if (annotations === undefined) return;
  const mirror = annotationOf(annotations, mirrorAnnotation);
  if (mirror !== undefined && !spec.nodeName) {
    errors.invalid(`${path}[${mirrorAnnotation}]`, mirror, "must set spec.nodeName if mirror pod annotation is set");
  }
  const tolerations = annotationOf(annotations, tolerationsKey);
  if (tolerations) validateTolerationsText(tolerations, path, rules, errors);
  if (!rules.anyDeletionCost && !isDeletionCost(annotations)) {
    errors.invalid(
      `${path}[${deletionCostKey}]`,
      annotationOf(annotations, deletionCostKey),
      "must be a 32bit integer",
    );
  }
  const ofPod = annotationOf(annotations, seccompPodKey);
  if (ofPod !== undefined) checkSeccomp(ofPod, `${path}.${seccompPodKey}`, errors);
  for (const [key, value] of Object.entries(annotations)) {
    if (key.startsWith(seccompContainerPrefix)) checkSeccomp(value, `${path}.${key}`, errors);
  }
  const profiles = Object.entries(annotations).filter(([key]) => key.startsWith(appArmorPrefix));
  if (profiles.length > 0) checkAppArmor(profiles, spec, path, errors);
}

/** @returns the value, undefined if absent */
export function annotationOf(annotations: Annotations, key: string): string | undefined {
  return annotations !== undefined && Object.hasOwn(annotations, key) ? annotations[key] : undefined;
}

/** Whether the deletion cost is absent, or a 32-bit integer in canonical form. */
export function isDeletionCost(annotations: Annotations): boolean {
  const text = annotationOf(annotations, deletionCostKey);
  if (text === undefined) return true;
  const isPlain = text === "0" || /^-[0-9]{1,32}$/.test(text) || /^[1-9][0-9]{0,9}$/.test(text);
  return isPlain && Number(text) >= -(2 ** 31) && Number(text) < 2 ** 31;
}

function validateTolerationsText(text: string, path: string, rules: TolerationRules, errors: FieldErrors): void {
  let value: unknown;
  try {
    value = parseDocument(Buffer.from(text)).value;
  } catch (error) {
    if (!(error instanceof JsonSyntaxError)) throw error;
    return errors.invalid(path, tolerationsKey, error.message);
  }
  if (value === null) return;
  if (!Array.isArray(value)) {
    const type = typeof value === "object" ? "object" : typeof value === "boolean" ? "bool" : typeof value;
    return errors.invalid(
      path,
      tolerationsKey,
      `json: cannot unmarshal ${type} into Go value of type []core.Toleration`,
    );
  }
  validateTolerations(value.filter(isObject).map(withFieldNames), `${path}.${tolerationsKey}`, rules, errors);
}

/** Go matches field names case-insensitively. */
function withFieldNames(toleration: Part): Part {
  const fields = ["key", "operator", "value", "effect", "tolerationSeconds"];
  const members = Object.entries(toleration).filter(([, value]) => value !== null);
  return Object.fromEntries(
    members.map(([key, value]) => [fields.find((field) => field.toLowerCase() === key.toLowerCase()) ?? key, value]),
  );
}

function checkSeccomp(profile: string, path: string, errors: FieldErrors): void {
  if (["runtime/default", "docker/default", "unconfined"].includes(profile)) return;
  if (profile.startsWith("localhost/")) checkDescendingPath(profile.slice("localhost/".length), path, errors);
  else errors.invalid(path, profile, "must be a valid seccomp profile");
}

function checkAppArmor(
  profiles: readonly (readonly [key: string, profile: string])[],
  spec: Part,
  path: string,
  errors: FieldErrors,
): void {
  const names = new Set<string>();
  visitContainers(spec, "", ({ name = "" }) => names.add(name));
  for (const [key, profile] of profiles) {
    const container = key.slice(appArmorPrefix.length);
    if (!names.has(container)) errors.invalid(`${path}[${key}]`, container, "container not found");
    if (!["", "runtime/default", "unconfined"].includes(profile) && !profile.startsWith("localhost/")) {
      errors.invalid(`${path}[${key}]`, profile, `invalid AppArmor profile name: ${quoteGo(profile)}`);
    }
  }
}

/** Deprecated annotations must agree with the fields that replaced them. @param path of the spec */
export function validateProfilesAgree(annotations: Annotations, spec: Part, path: string, errors: FieldErrors): void {
  if (annotations === undefined) return;
  checkAgrees(
    "seccomp",
    spec.securityContext?.seccompProfile,
    annotationOf(annotations, seccompPodKey),
    `${path}.securityContext.seccompProfile`,
    errors,
  );
  visitContainers(spec, path, ({ name = "", securityContext }, at) => {
    const annotation = annotationOf(annotations, `${seccompContainerPrefix}${name}`);
    checkAgrees("seccomp", securityContext?.seccompProfile, annotation, `${at}.securityContext.seccompProfile`, errors);
  });
  if (spec.os?.name === "windows") return;
  visitContainers(spec, path, ({ name = "", securityContext }, at) => {
    const profile = securityContext?.appArmorProfile ?? spec.securityContext?.appArmorProfile;
    checkAgrees(
      "apparmor",
      profile,
      annotationOf(annotations, `${appArmorPrefix}${name}`),
      `${at}.securityContext.appArmorProfile`,
      errors,
    );
  });
}

function checkAgrees(
  what: "seccomp" | "apparmor",
  profile: Part | undefined,
  annotation: string | undefined,
  path: string,
  errors: FieldErrors,
): void {
  if (profile === undefined || annotation === undefined) return;
  const expected = {
    Unconfined: ["unconfined"],
    RuntimeDefault: what === "seccomp" ? ["runtime/default", "docker/default"] : ["runtime/default"],
  };
  if (profile.type === "Unconfined" || profile.type === "RuntimeDefault") {
    if (!expected[profile.type as keyof typeof expected].includes(annotation)) {
      errors.forbidden(`${path}.type`, `${what} type in annotation and field must match`);
    }
  } else if (profile.type === "Localhost") {
    if (!annotation.startsWith("localhost/"))
      errors.forbidden(`${path}.type`, `${what} type in annotation and field must match`);
    else if (annotation.slice("localhost/".length) !== profile.localhostProfile) {
      errors.forbidden(`${path}.localhostProfile`, `${what} profile in annotation and field must match`);
    }
  }
}

/** Annotations that an update cannot add, change or remove. @param path of the annotations */
export function validateAnnotationChanges(next: KubeObject, old: KubeObject, path: string, errors: FieldErrors): void {
  const [now, before] = [next.metadata.annotations ?? {}, old.metadata.annotations ?? {}];
  for (const [key, value] of Object.entries(before).sort()) {
    if (annotationOf(now, key) === value) continue;
    if (key.startsWith(appArmorPrefix))
      errors.forbidden(`${path}[${key}]`, "may not remove or update AppArmor annotations");
    if (key === mirrorAnnotation) errors.forbidden(`${path}[${key}]`, "may not remove or update mirror pod annotation");
  }
  for (const key of Object.keys(now).sort()) {
    if (Object.hasOwn(before, key)) continue;
    if (key.startsWith(appArmorPrefix)) errors.forbidden(`${path}[${key}]`, "may not add AppArmor annotations");
    if (key === mirrorAnnotation) errors.forbidden(`${path}[${key}]`, "may not add mirror pod annotation");
  }
}
