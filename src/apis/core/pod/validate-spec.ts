/**
 * Validation of the spec of a pod or a pod template, in upstream's order.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { validateLegacyIp } from "../../../apimachinery/validation/ip.ts";
import { addInvalid, validateLabels } from "../../../apimachinery/validation/metadata.ts";
import { dnsLabelProblems, dnsSubdomainProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateAffinity } from "./affinity.ts";
import {
  type ContainerScope,
  checkChoice,
  validateContainers,
  validateEphemeralContainers,
  validateInitContainers,
} from "./container.ts";
import { validateDnsConfig, validateDnsPolicy } from "./dns.ts";
import { validateHostPorts, validateHostUsers } from "./host.ts";
import type { PodOptions } from "./options.ts";
import { validateOs } from "./os.ts";
import { validateResourceClaims } from "./resource-claims.ts";
import { validatePodResources, validateResources } from "./resources.ts";
import { validatePodSecurity } from "./security-context.ts";
import { validateTolerations } from "./tolerations.ts";
import { validateSpreadConstraints } from "./topology-spread.ts";
import { visitContainers } from "./visit-containers.ts";
import { validateVolumes } from "./volumes.ts";
import { validateHostProcess } from "./windows-options.ts";

interface SpecRules {
  readonly options: PodOptions;
  /** Metadata of a pod; undefined for templates. */
  readonly metadata?: { readonly name?: string; readonly annotations?: Readonly<Record<string, string>> };
}

const int32Max = 2 ** 31 - 1;
const restartPolicies = ["Always", "OnFailure", "Never"];
const preemptionPolicies = ["PreemptLowerPriority", "Never"];

/** @param path of the spec, such as `spec.template.spec` */
export function validatePodSpec(spec: Part, path: string, { options, metadata }: SpecRules, errors: FieldErrors): void {
  if (spec.terminationGracePeriodSeconds === undefined) errors.required(`${path}.terminationGracePeriodSeconds`);
  const volumes = validateVolumes(items(spec.volumes), `${path}.volumes`, metadata?.name ?? "", options, errors);
  const claimNames = new Set(items(spec.resourceClaims).flatMap(({ name = "" }) => (name === "" ? [] : [name])));
  if (spec.resourceClaims)
    validateResourceClaims(items(spec.resourceClaims), `${path}.resourceClaims`, metadata?.annotations, errors);
  const scope: ContainerScope = { spec, options, volumes, claimNames };
  validateContainers(`${path}.containers`, scope, errors);
  if (spec.initContainers) validateInitContainers(`${path}.initContainers`, scope, errors);
  if (spec.ephemeralContainers) validateEphemeralContainers(`${path}.ephemeralContainers`, scope, errors);
  if (options.podResources)
    validatePodResources(spec, path, { indivisibleHugePages: options.indivisibleHugePages, claimNames }, errors);
  if (spec.hostNetwork === true) validateHostPorts(spec, path, options.isPod, errors);
  checkChoice(spec.restartPolicy ?? "", `${path}.restartPolicy`, restartPolicies, errors);
  validateDnsPolicy(spec.dnsPolicy ?? "", `${path}.dnsPolicy`, errors);
  validateLabels(spec.nodeSelector, `${path}.nodeSelector`, errors);
  validatePodSecurity(spec, `${path}.securityContext`, options, errors);
  if (spec.affinity) validateAffinity(spec.affinity, `${path}.affinity`, options, errors);
  validateDnsConfig(spec, `${path}.dnsConfig`, options, errors);
  if (spec.readinessGates) validateReadinessGates(items(spec.readinessGates), `${path}.readinessGates`, errors);
  if (spec.schedulingGates) validateSchedulingGates(items(spec.schedulingGates), `${path}.schedulingGates`, errors);
  if (spec.topologySpreadConstraints) {
    validateSpreadConstraints(
      items(spec.topologySpreadConstraints),
      `${path}.topologySpreadConstraints`,
      options,
      errors,
    );
  }
  validateHostProcess(spec, path, options, errors);
  if (spec.hostUsers === false) validateHostUsers(spec, path, options, errors);
  validateNames(spec, path, errors);
  if (spec.tolerations) validateTolerations(items(spec.tolerations), `${path}.tolerations`, options, errors);
  if (spec.hostAliases) validateHostAliases(items(spec.hostAliases), `${path}.hostAliases`, options, errors);
  checkSubdomain(spec.priorityClassName || undefined, `${path}.priorityClassName`, errors);
  checkSubdomain(spec.runtimeClassName, `${path}.runtimeClassName`, errors);
  if (spec.preemptionPolicy !== undefined)
    checkChoice(spec.preemptionPolicy, `${path}.preemptionPolicy`, preemptionPolicies, errors);
  if (spec.overhead) {
    const rules = { indivisibleHugePages: options.indivisibleHugePages, claimNames: new Set<string>(), ofPod: false };
    validateResources({ limits: spec.overhead }, `${path}.overhead`, rules, errors);
  }
  if (spec.os) validateOs(spec, path, errors);
  if (spec.schedulingGroup) validateSchedulingGroup(spec.schedulingGroup, `${path}.schedulingGroup`, errors);
  validateEnvFileVolumes(spec, path, errors);
}

/** Host names, and references by name. */
function validateNames(spec: Part, path: string, errors: FieldErrors): void {
  const { hostnameOverride, serviceAccountName, nodeName, activeDeadlineSeconds: seconds, hostname, subdomain } = spec;
  if (hostnameOverride !== undefined) validateHostnameOverride(spec, path, errors);
  checkSubdomain(serviceAccountName || undefined, `${path}.serviceAccountName`, errors);
  checkSubdomain(nodeName || undefined, `${path}.nodeName`, errors);
  if (seconds < 1 || seconds > int32Max) {
    errors.invalid(`${path}.activeDeadlineSeconds`, seconds, `must be between 1 and ${int32Max}, inclusive`);
  }
  if (hostname) addInvalid(errors, `${path}.hostname`, hostname, dnsLabelProblems(hostname));
  if (subdomain) addInvalid(errors, `${path}.subdomain`, subdomain, dnsLabelProblems(subdomain));
}

function checkSubdomain(name: string | undefined, path: string, errors: FieldErrors): void {
  if (name !== undefined) addInvalid(errors, path, name, dnsSubdomainProblems(name));
}

const hostnameBytesMax = 64;

function validateHostnameOverride(
  { hostnameOverride, setHostnameAsFQDN, hostNetwork }: Part,
  path: string,
  errors: FieldErrors,
): void {
  const at = `${path}.hostnameOverride`;
  if (setHostnameAsFQDN === true) errors.forbidden(at, "may not be specified when setHostnameAsFQDN is true");
  if (hostNetwork === true) errors.forbidden(at, "may not be specified when hostNetwork is true");
  if (Buffer.byteLength(hostnameOverride) > hostnameBytesMax) errors.tooLong(at, hostnameBytesMax);
  addInvalid(errors, at, hostnameOverride, dnsSubdomainProblems(hostnameOverride));
}

function validateReadinessGates(gates: readonly Part[], path: string, errors: FieldErrors): void {
  for (const [index, { conditionType = "" }] of gates.entries()) {
    addInvalid(errors, `${path}[${index}].conditionType`, conditionType, qualifiedNameProblems(conditionType));
  }
}

function validateSchedulingGates(gates: readonly Part[], path: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, { name = "" }] of gates.entries()) {
    addInvalid(errors, `${path}[${index}]`, name, qualifiedNameProblems(name));
    if (names.has(name)) errors.duplicate(`${path}[${index}]`, name);
    names.add(name);
  }
}

function validateSchedulingGroup({ podGroupName }: Part, path: string, errors: FieldErrors): void {
  if (podGroupName === undefined) errors.invalid(`${path}.podGroupName`, null, "must specify one of: `podGroupName`");
  else addInvalid(errors, `${path}.podGroupName`, podGroupName, dnsSubdomainProblems(podGroupName));
}

function validateHostAliases(
  aliases: readonly Part[],
  path: string,
  { strictAddresses }: PodOptions,
  errors: FieldErrors,
): void {
  for (const [index, { ip = "", hostnames = [] }] of aliases.entries()) {
    validateLegacyIp(ip, `${path}[${index}].ip`, { strict: strictAddresses }, errors);
    for (const [place, name] of hostnames.entries())
      addInvalid(errors, `${path}[${index}].hostnames[${place}]`, name, dnsSubdomainProblems(name));
  }
}

/** The volume of a `fileKeyRef` must be an emptyDir. */
function validateEnvFileVolumes(spec: Part, path: string, errors: FieldErrors): void {
  let volumes: ReadonlyMap<string, Part> | undefined;
  visitContainers(spec, path, ({ env }, at) => {
    for (const [index, { valueFrom }] of items(env).entries()) {
      if (!valueFrom?.fileKeyRef) continue;
      const { volumeName = "" } = valueFrom.fileKeyRef;
      const nameAt = `${at}.env[${index}].valueFrom.fileKeyRef.volumeName`;
      volumes ??= new Map(items(spec.volumes).map((volume) => [volume.name ?? "", volume]));
      const volume = volumes.get(volumeName);
      if (volume === undefined) errors.notFound(nameAt, volumeName);
      else if (!volume.emptyDir) errors.invalid(nameAt, volumeName, "referenced volume must be of type emptyDir");
    }
  });
}
