/**
 * Warnings for pods and pod templates.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/pod/warnings.go`.
 */
import type { KubeObject } from "../../../apimachinery/object.ts";
import { warnOfIp } from "../../../apimachinery/validation/ip.ts";
import { quoteGo } from "../../../lib/json/quote.ts";
import { deepEqual } from "../../../lib/json/values.ts";
import { dnsLabelProblems } from "../../../lib/names/names.ts";
import { parseQuantity } from "../../../lib/quantity/quantity.ts";
import { items, type Part } from "../../fields.ts";
import { annotationOf, appArmorPrefix, seccompContainerPrefix, seccompPodKey } from "./annotations.ts";
import { warnOfNodeLabels } from "./node-labels.ts";
import { warnOfOverlaps } from "./overlapping-paths.ts";
import { warningsMax, warnOfPorts } from "./port-warnings.ts";
import { profileOf } from "./prepare.ts";
import { isWhole } from "./resource-names.ts";
import { visitContainers } from "./visit-containers.ts";

/** @returns warnings for a new pod; updates get none */
export function podWarnings(pod: KubeObject, old: KubeObject | undefined): string[] {
  if (old !== undefined) return [];
  const problems = dnsLabelProblems(pod.metadata.name ?? "");
  const text =
    "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label is recommended";
  return [...(problems.length > 0 ? [`${text}: [${problems.join(" ")}]`] : []), ...warningsOf(pod, "")];
}

/** @param path of the template, such as `spec.template` */
export function templateWarnings(template: Part | undefined, path: string): string[] {
  return template === undefined ? [] : warningsOf(template, `${path}.`);
}

/** @param prefix ends in a dot, or is empty for a pod itself */
function warningsOf({ metadata, spec = {} }: Part, prefix: string): string[] {
  const warnings: string[] = [];
  const annotations = metadata?.annotations;
  const at = `${prefix}spec`;
  warnOfNodeLabels(spec, at, warnings);
  if (annotations) warnOfAnnotations(annotations, `${prefix}metadata.annotations`, warnings);
  if (spec.volumes) warnOfVolumes(items(spec.volumes), `${at}.volumes`, warnings);
  warnOfRepetitions(spec, at, warnings);
  for (const name of ["memory", "ephemeral-storage"]) warnOfFraction(spec.overhead, name, `${at}.overhead`, warnings);
  if (annotations && !spec.securityContext?.seccompProfile && annotationOf(annotations, seccompPodKey) !== undefined) {
    warnings.push(`${prefix}metadata.annotations[${seccompPodKey}]: ${seccompText}`);
  }
  visitContainers(spec, at, (container, path) => {
    if (annotations) warnOfProfiles(container, spec, annotations, prefix, warnings);
    if (container.resources) warnOfFractions(container.resources, `${path}.resources`, warnings);
    if (container.env?.length > 1) warnOfHiddenVariables(items(container.env), `${path}.env`, warnings);
  });
  warnOfPorts(spec, at, warnings);
  if (spec.terminationGracePeriodSeconds < 0) {
    warnings.push(
      `${at}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1`,
    );
  }
  if (spec.affinity) warnOfNullSelectors(spec.affinity, `${at}.affinity`, warnings);
  for (const [index, address] of (spec.dnsConfig?.nameservers ?? []).entries())
    warnOfIp(address, `${at}.dnsConfig.nameservers[${index}]`, warnings);
  for (const [index, { ip = "" }] of items(spec.hostAliases).entries())
    warnOfIp(ip, `${at}.hostAliases[${index}].ip`, warnings);
  return warnings.slice(0, warningsMax);
}

const seccompText = 'non-functional in v1.27+; use the "seccompProfile" field instead';

const deprecatedAnnotations = [
  ["scheduler.alpha.kubernetes.io/critical-pod", 'non-functional in v1.16+; use the "priorityClassName" field instead'],
  ["security.alpha.kubernetes.io/sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
  ["security.alpha.kubernetes.io/unsafe-sysctls", 'non-functional in v1.11+; use the "sysctls" field instead'],
] as const;

function warnOfAnnotations(annotations: Readonly<Record<string, string>>, path: string, warnings: string[]): void {
  for (const [key, text] of deprecatedAnnotations)
    if (Object.hasOwn(annotations, key)) warnings.push(`${path}[${key}]: ${text}`);
}

/** A valid volume has one source. */
const deprecatedVolumes: ReadonlyMap<string, string> = new Map([
  ["photonPersistentDisk", "photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+"],
  ["gitRepo", "gitRepo: deprecated in v1.11, and disabled by default in v1.33+"],
  ["scaleIO", "scaleIO: deprecated in v1.16, non-functional in v1.22+"],
  ["flocker", "flocker: deprecated in v1.22, non-functional in v1.25+"],
  ["storageos", "storageOS: deprecated in v1.22, non-functional in v1.25+"],
  ["quobyte", "quobyte: deprecated in v1.22, non-functional in v1.25+"],
  ["glusterfs", "glusterfs: deprecated in v1.25, non-functional in v1.26+"],
  ["cephfs", "cephfs: deprecated in v1.28, non-functional in v1.31+"],
  ["rbd", "rbd: deprecated in v1.28, non-functional in v1.31+"],
]);

function warnOfVolumes(volumes: readonly Part[], path: string, warnings: string[]): void {
  for (const [index, volume] of volumes.entries()) {
    for (const field in volume) {
      if (volume[field] === undefined) continue;
      const deprecation = deprecatedVolumes.get(field);
      if (deprecation !== undefined) warnings.push(`${path}[${index}].${deprecation}`);
      else if (field === "ephemeral")
        warnOfClaim(
          volume.ephemeral.volumeClaimTemplate?.spec,
          `${path}[${index}].ephemeral.volumeClaimTemplate.spec`,
          warnings,
        );
    }
  }
  warnOfOverlaps(volumes, warnings);
}

/** Warns of a fractional storage size. @param spec of a claim @param path of the spec */
export function warnOfClaim(spec: Part | undefined, path: string, warnings: string[]): void {
  for (const list of ["requests", "limits"])
    warnOfFraction(spec?.resources?.[list], "storage", `${path}.resources.${list}`, warnings);
}

function warnOfFractions(resources: Part, path: string, warnings: string[]): void {
  for (const name of ["memory", "ephemeral-storage"]) {
    for (const list of ["limits", "requests"]) warnOfFraction(resources[list], name, `${path}.${list}`, warnings);
  }
}

function warnOfFraction(list: Part | undefined, name: string, path: string, warnings: string[]): void {
  if (list === undefined || !Object.hasOwn(list, name)) return;
  const text: string = list[name];
  // Most quantities are integers without an exponent, which need no parsing.
  if (/^[0-9]+([kMGTPE]i?)?$/.test(text) || isWhole(parseQuantity(text))) return;
  warnings.push(`${path}[${name}]: fractional byte value ${quoteGo(text)} is invalid, must be an integer`);
}

function warnOfRepetitions({ hostAliases, imagePullSecrets }: Part, path: string, warnings: string[]): void {
  const seen = new Set<string>();
  for (const [index, { ip = "" }] of items(hostAliases).entries()) {
    if (seen.has(ip)) warnings.push(`${path}.hostAliases[${index}].ip: duplicate ip ${quoteGo(ip)}`);
    seen.add(ip);
  }
  const names = new Set<string>();
  for (const [index, { name = "" }] of items(imagePullSecrets).entries()) {
    if (names.has(name)) warnings.push(`${path}.imagePullSecrets[${index}].name: duplicate name ${quoteGo(name)}`);
    names.add(name);
  }
  for (const [index, { name = "" }] of items(imagePullSecrets).entries()) {
    if (name === "") warnings.push(`${path}.imagePullSecrets[${index}].name: invalid empty name ""`);
  }
}

/** @param prefix empty for a pod, whose AppArmor annotations `prepareForCreate` reports */
function warnOfProfiles(
  { name = "", securityContext }: Part,
  spec: Part,
  annotations: Readonly<Record<string, string>>,
  prefix: string,
  warnings: string[],
): void {
  const path = `${prefix}metadata.annotations`;
  const seccomp = `${seccompContainerPrefix}${name}`;
  if (!securityContext?.seccompProfile && Object.hasOwn(annotations, seccomp))
    warnings.push(`${path}[${seccomp}]: ${seccompText}`);
  const appArmor = annotationOf(annotations, `${appArmorPrefix}${name}`);
  if (prefix === "" || appArmor === undefined || securityContext?.appArmorProfile) return;
  const ofPod = spec.securityContext?.appArmorProfile;
  if (ofPod !== undefined && deepEqual(ofPod, profileOf(appArmor))) return;
  warnings.push(`${path}[${appArmorPrefix}${name}]: deprecated since v1.30; use the "appArmorProfile" field instead`);
}

/** A redefined variable gets no warning if it refers to its earlier definition. */
function warnOfHiddenVariables(variables: readonly Part[], path: string, warnings: string[]): void {
  const names = new Set<string>();
  for (const [index, { name = "", value = "", valueFrom }] of variables.entries()) {
    const refersToEarlier = (reference: string): boolean =>
      valueFrom === undefined && value !== reference && value.includes(reference);
    if (names.has(name) && !refersToEarlier(`$(${name})`)) {
      warnings.push(
        `${path}[${index}]: hides previous definition of ${quoteGo(name)}, which may be dropped when using apply`,
      );
    }
    names.add(name);
  }
}

function warnOfNullSelectors({ podAffinity, podAntiAffinity }: Part, path: string, warnings: string[]): void {
  const text = "a null labelSelector results in matching no pod";
  for (const [field, affinity] of [
    ["podAffinity", podAffinity],
    ["podAntiAffinity", podAntiAffinity],
  ] as const) {
    for (const when of [
      "requiredDuringSchedulingIgnoredDuringExecution",
      "preferredDuringSchedulingIgnoredDuringExecution",
    ]) {
      for (const [index, each] of items(affinity?.[when]).entries()) {
        const inner = when.startsWith("preferred") ? ".podAffinityTerm" : "";
        const term = inner === "" ? each : (each.podAffinityTerm ?? {});
        if (!term.labelSelector) warnings.push(`${path}.${field}.${when}[${index}]${inner}.labelSelector: ${text}`);
      }
    }
  }
}

/** @returns warnings for the addresses in a pod's status */
export function podStatusWarnings({ status }: KubeObject): string[] {
  const warnings: string[] = [];
  for (const field of ["podIPs", "hostIPs"]) {
    for (const [index, { ip = "" }] of items(status?.[field]).entries())
      warnOfIp(ip, `status.${field}[${index}].ip`, warnings);
  }
  return warnings;
}
