/**
 * Validation of containers, init containers and ephemeral containers.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import { type FieldErrors, typedText } from "../../../apimachinery/field-errors.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { dnsLabelProblems, portNameProblems, portNumberProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateEnv, validateEnvFrom } from "./env.ts";
import { validateLifecycle, validateProbes } from "./handlers.ts";
import { type Volumes, validateMounts } from "./mounts.ts";
import type { PodOptions } from "./options.ts";
import { validateResources } from "./resources.ts";
import { validateInitRestart, validateRestartPolicy } from "./restart-policy.ts";
import { validateSecurity } from "./security-context.ts";
import { isSidecar } from "./visit-containers.ts";
import { validatePullPolicy } from "./volume-sources.ts";

/** The pod that the containers belong to. */
export interface ContainerScope {
  readonly spec: Part;
  readonly options: PodOptions;
  readonly volumes: Volumes;
  /** Names of the pod's `resourceClaims`. */
  readonly claimNames: ReadonlySet<string>;
}

/** @param path of the list */
export function validateContainers(path: string, scope: ContainerScope, errors: FieldErrors): void {
  const { spec, options } = scope;
  const containers = items(spec.containers);
  if (containers.length === 0) return errors.required(path);
  const names = new Set<string>();
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    const { name = "", lifecycle } = container;
    validateCommon(container, at, scope, errors);
    if (names.has(name)) errors.duplicate(`${at}.name`, name);
    names.add(name);
    if (lifecycle) validateLifecycle(lifecycle, `${at}.lifecycle`, spec.terminationGracePeriodSeconds, spec.os, errors);
    validateProbes(container, at, errors);
    if (options.restartRules) validateRestartPolicy(container, at, options, errors);
    else if (container.restartPolicy !== undefined)
      errors.forbidden(`${at}.restartPolicy`, "may not be set for non-init containers");
  }
  checkHostPorts(containers, path, errors);
}

const probesAndHooks = ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"];

export function validateInitContainers(path: string, scope: ContainerScope, errors: FieldErrors): void {
  const { spec, options } = scope;
  const names = new Set(items(spec.containers).map(({ name = "" }) => name));
  for (const [index, container] of items(spec.initContainers).entries()) {
    const at = `${path}[${index}]`;
    const { name = "", lifecycle } = container;
    validateCommon(container, at, scope, errors);
    validateInitRestart(container, at, options, errors);
    if (names.has(name)) errors.duplicate(`${at}.name`, name);
    else if (name !== "") names.add(name);
    checkHostPorts([container], path, errors);
    if (isSidecar(container)) {
      if (lifecycle)
        validateLifecycle(lifecycle, `${at}.lifecycle`, spec.terminationGracePeriodSeconds, spec.os, errors);
      validateProbes(container, at, errors);
    } else validateRegularInitContainer(container, at, options, errors);
  }
}

/** Rules for init containers that are not sidecars: they have no probes and hooks. */
function validateRegularInitContainer(
  container: Part,
  path: string,
  { restartingInitResize }: PodOptions,
  errors: FieldErrors,
): void {
  for (const field of probesAndHooks) {
    if (container[field] !== undefined)
      errors.forbidden(`${path}.${field}`, "may not be set for init containers without restartPolicy=Always");
  }
  if (restartingInitResize) return;
  for (const [index, { restartPolicy }] of items(container.resizePolicy).entries()) {
    if (restartPolicy !== "RestartContainer") continue;
    const why = "must not be set to 'RestartContainer' for non-sidecar initContainers";
    errors.invalid(`${path}.resizePolicy[${index}].restartPolicy`, restartPolicy, why);
  }
}

/** Fields that ephemeral containers cannot have, in upstream's order. */
const notEphemeral = [
  ...[
    "ports",
    "resources",
    "resizePolicy",
    "restartPolicy",
    "restartPolicyRules",
    "livenessProbe",
    "readinessProbe",
    "startupProbe",
    "lifecycle",
  ],
];

export function validateEphemeralContainers(path: string, scope: ContainerScope, errors: FieldErrors): void {
  const { spec } = scope;
  const containers = items(spec.ephemeralContainers);
  if (containers.length === 0) return;
  const others = new Set([...items(spec.containers), ...items(spec.initContainers)].map(({ name = "" }) => name));
  const names = new Set(others);
  for (const [index, container] of containers.entries()) {
    const at = `${path}[${index}]`;
    const { name = "", targetContainerName: target = "" } = container;
    validateCommon(container, at, scope, errors);
    checkImagePadding(container, at, errors);
    if (names.has(name)) errors.duplicate(`${at}.name`, name);
    names.add(name);
    if (target !== "" && !others.has(target)) errors.notFound(`${at}.targetContainerName`, target);
    for (const field of notEphemeral) {
      // An empty `resources` counts as absent.
      const isSet =
        field === "resources" ? Object.keys(container.resources ?? {}).length > 0 : container[field] !== undefined;
      if (isSet) errors.forbidden(`${at}.${field}`, "cannot be set for an Ephemeral Container");
    }
    for (const [place, mount] of items(container.volumeMounts).entries()) {
      for (const field of ["subPath", "subPathExpr"]) {
        if (mount[field])
          errors.forbidden(`${at}.volumeMounts[${place}].${field}`, "cannot be set for an Ephemeral Container");
      }
    }
  }
}

/** Applies to pods, not to templates. @param path of the container */
export function checkImagePadding({ image = "" }: Part, path: string, errors: FieldErrors): void {
  if (image.trim() !== image) errors.invalid(`${path}.image`, image, "must not have leading or trailing whitespace");
}

const messagePolicies = ["File", "FallbackToLogsOnError"];

function validateCommon(
  container: Part,
  path: string,
  { spec, options, volumes, claimNames }: ContainerScope,
  errors: FieldErrors,
): void {
  const {
    name = "",
    image = "",
    terminationMessagePolicy = "",
    ports,
    env,
    envFrom,
    resources,
    resizePolicy,
    securityContext,
  } = container;
  if (name === "") errors.required(`${path}.name`);
  else addInvalid(errors, `${path}.name`, name, dnsLabelProblems(name));
  if (image === "") errors.required(`${path}.image`);
  if (terminationMessagePolicy === "") errors.required(`${path}.terminationMessagePolicy`);
  else if (!messagePolicies.includes(terminationMessagePolicy)) {
    errors.notSupported(`${path}.terminationMessagePolicy`, terminationMessagePolicy, messagePolicies);
  }
  if (ports) validatePorts(items(ports), `${path}.ports`, errors);
  if (env) validateEnv(items(env), `${path}.env`, options.envFiles, errors);
  if (envFrom) validateEnvFrom(items(envFrom), `${path}.envFrom`, errors);
  validateMounts(container, path, volumes, errors);
  validatePullPolicy(container.imagePullPolicy ?? "", `${path}.imagePullPolicy`, errors);
  if (resources) {
    validateResources(
      resources,
      `${path}.resources`,
      { indivisibleHugePages: options.indivisibleHugePages, claimNames, ofPod: false },
      errors,
    );
  }
  if (resizePolicy) validateResizePolicy(items(resizePolicy), `${path}.resizePolicy`, spec.restartPolicy, errors);
  if (securityContext) {
    const rules = { hostUsers: spec.hostUsers !== false, forbidsPrivileged: options.forbidsPrivileged };
    validateSecurity(securityContext, `${path}.securityContext`, rules, errors);
  }
}

const protocols = ["SCTP", "TCP", "UDP"];

function validatePorts(ports: readonly Part[], path: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, { name = "", containerPort = 0, hostPort = 0, protocol = "" }] of ports.entries()) {
    const at = `${path}[${index}]`;
    if (name !== "") {
      const problems = portNameProblems(name);
      addInvalid(errors, `${at}.name`, name, problems);
      if (problems.length === 0 && names.has(name)) errors.duplicate(`${at}.name`, name);
      if (problems.length === 0) names.add(name);
    }
    if (containerPort === 0) errors.required(`${at}.containerPort`);
    else addInvalid(errors, `${at}.containerPort`, containerPort, portNumberProblems(containerPort));
    if (hostPort !== 0) addInvalid(errors, `${at}.hostPort`, hostPort, portNumberProblems(hostPort));
    if (protocol === "") errors.required(`${at}.protocol`);
    else if (!protocols.includes(protocol)) errors.notSupported(`${at}.protocol`, protocol, protocols);
  }
}

function checkHostPorts(containers: readonly Part[], path: string, errors: FieldErrors): void {
  let taken: Set<string> | undefined;
  for (const [index, { ports }] of containers.entries()) {
    for (const [place, { hostPort = 0, hostIP = "", protocol = "" }] of items(ports).entries()) {
      if (hostPort === 0) continue;
      const key = `${protocol}/${hostIP}/${hostPort}`;
      taken ??= new Set();
      if (taken.has(key)) errors.duplicate(`${path}[${index}].ports[${place}].hostPort`, key);
      taken.add(key);
    }
  }
}

const resizedResources = ["cpu", "memory"];
const resizeRestarts = ["NotRequired", "RestartContainer"];

function validateResizePolicy(policies: readonly Part[], path: string, podRestart: string, errors: FieldErrors): void {
  const names = new Set<string>();
  for (const [index, { resourceName = "", restartPolicy = "" }] of policies.entries()) {
    if (names.has(resourceName)) errors.duplicate(`${path}[${index}]`, typedText(resourceName));
    names.add(resourceName);
    checkChoice(resourceName, path, resizedResources, errors);
    checkChoice(restartPolicy, path, resizeRestarts, errors);
    if (podRestart === "Never" && restartPolicy !== "NotRequired") {
      errors.invalid(path, typedText(restartPolicy), "must be 'NotRequired' when pod `restartPolicy` is 'Never'");
    }
  }
}

/** Requires one of the choices. */
export function checkChoice(value: string, path: string, choices: readonly string[], errors: FieldErrors): void {
  if (value === "") errors.required(path);
  else if (!choices.includes(value)) errors.notSupported(path, value, choices);
}
