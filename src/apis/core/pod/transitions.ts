/**
 * Validation of state transitions: a terminated container can only run again if its restart policy
 * permits it.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { items, type Part } from "../../fields.ts";
import type { PodOptions } from "./options.ts";
import { isSidecar } from "./visit-containers.ts";

/** @param next the new status @param old the stored status @param spec of the stored pod */
export function validateTransitions(next: Part, old: Part, spec: Part, options: PodOptions, errors: FieldErrors): void {
  if (!restartsAll(spec, options)) {
    for (const [field, list] of [
      ["containerStatuses", "containers"],
      ["initContainerStatuses", "initContainers"],
    ] as const) {
      const containers = new Map(
        items(spec[list])
          .toReversed()
          .map((container) => [container.name ?? "", container]),
      );
      const mayRestart = (name: string, exitCode: number): boolean =>
        isRestarted(containers.get(name), exitCode, spec, list, options);
      validateStates(next[field], old[field], `status.${field}`, mayRestart, errors);
    }
  }
  const path = "status.ephemeralContainerStatuses";
  validateStates(next.ephemeralContainerStatuses, old.ephemeralContainerStatuses, path, () => false, errors);
}

function restartsAll(spec: Part, { restartRules, restartAllContainers }: PodOptions): boolean {
  if (!restartRules) return spec.restartPolicy === "Always";
  const hasRestartAllRule = ({ restartPolicyRules }: Part): boolean =>
    items(restartPolicyRules).some(({ action }) => action === "RestartAllContainers");
  return restartAllContainers && [...items(spec.initContainers), ...items(spec.containers)].some(hasRestartAllRule);
}

function validateStates(
  next: unknown,
  old: unknown,
  path: string,
  mayRestart: (name: string, exitCode: number) => boolean,
  errors: FieldErrors,
): void {
  const running = new Set(items(next).flatMap(({ name = "", state }) => (state?.terminated ? [] : [name])));
  for (const [index, { name = "", state }] of items(old).entries()) {
    if (!state?.terminated || !running.has(name) || mayRestart(name, state.terminated.exitCode ?? 0)) continue;
    errors.forbidden(`${path}[${index}].state`, "may not be transitioned to non-terminated state");
  }
}

function isRestarted(
  container: Part | undefined,
  exitCode: number,
  spec: Part,
  list: "containers" | "initContainers",
  options: PodOptions,
): boolean {
  if (options.restartRules) return container !== undefined && containerRestarts(container, spec, exitCode, options);
  if (exitCode !== 0 && spec.restartPolicy === "OnFailure") return true;
  return list === "initContainers" && container !== undefined && isSidecar(container);
}

function containerRestarts(
  container: Part,
  spec: Part,
  exitCode: number,
  { restartAllContainers }: PodOptions,
): boolean {
  if (container.restartPolicy !== undefined) {
    const action = items(container.restartPolicyRules).find((rule) => matches(rule, exitCode))?.action;
    if (action === "Restart" || (action === "RestartAllContainers" && restartAllContainers)) return true;
  }
  const policy = ["Always", "OnFailure", "Never"].includes(container.restartPolicy)
    ? container.restartPolicy
    : spec.restartPolicy;
  return policy === "Always" || (policy === "OnFailure" && exitCode !== 0);
}

function matches({ exitCodes }: Part, exitCode: number): boolean {
  const isListed = (exitCodes?.values ?? []).includes(exitCode);
  return exitCodes?.operator === "In" ? isListed : exitCodes?.operator === "NotIn" && !isListed;
}
