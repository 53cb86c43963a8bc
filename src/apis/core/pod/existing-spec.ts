/**
 * What the spec of a stored object contains and may keep on update, although validation rejects it
 * in new objects.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/api/pod/util.go`.
 */
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { labelValueProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateLabelSelector } from "../../label-selector.ts";
import { validateLabelKeys, validateSpreadKeys } from "./label-keys.ts";
import { checkLocalPath } from "./paths.ts";
import { isDivisibleHugePages, isHugePages } from "./resource-names.ts";
import { isHostSysctl } from "./sysctls.ts";
import { isSidecar, someContainer } from "./visit-containers.ts";

export function hasIndivisibleHugePages(spec: Part): boolean {
  return (
    hasIndivisible(spec.overhead) ||
    someContainer(
      spec,
      ({ resources }) =>
        resources !== undefined && (hasIndivisible(resources.limits) || hasIndivisible(resources.requests)),
    )
  );
}

function hasIndivisible(list: Part | undefined): boolean {
  return (
    list !== undefined &&
    Object.entries(list).some(([name, quantity]) => isHugePages(name) && !isDivisibleHugePages(name, quantity))
  );
}

export function hasInvalidAffinitySelector({ affinity }: Part): boolean {
  if (!affinity) return false;
  return [affinity.podAffinity, affinity.podAntiAffinity].some((each) => {
    const preferred = items(each?.preferredDuringSchedulingIgnoredDuringExecution).map(
      ({ podAffinityTerm }) => podAffinityTerm ?? {},
    );
    return [...items(each?.requiredDuringSchedulingIgnoredDuringExecution), ...preferred].some(
      ({ labelSelector, namespaceSelector }) =>
        isInvalidSelector(labelSelector) || isInvalidSelector(namespaceSelector),
    );
  });
}

function isInvalidSelector(selector: Part | undefined): boolean {
  if (!selector) return false;
  return fails((errors) => validateLabelSelector(selector, "", errors));
}

export function hasInvalidNodeAffinityValue({ affinity }: Part): boolean {
  const terms = items(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms);
  return terms.some(({ matchExpressions }) =>
    items(matchExpressions).some(({ values }) =>
      (values ?? []).some((value: string) => labelValueProblems(value).length > 0),
    ),
  );
}

export function hasInvalidSpreadSelector({ topologySpreadConstraints }: Part): boolean {
  return items(topologySpreadConstraints).some(({ labelSelector }) => isInvalidSelector(labelSelector));
}

export function hasInvalidSpreadKeys({ topologySpreadConstraints }: Part, merged: boolean): boolean {
  return items(topologySpreadConstraints).some((constraint) =>
    fails((errors) =>
      merged ? validateLabelKeys(constraint, "", errors) : validateSpreadKeys(constraint, "", errors),
    ),
  );
}

export function hasInvalidTokenPath({ volumes }: Part): boolean {
  return items(volumes).some(({ projected }) =>
    items(projected?.sources).some(
      ({ serviceAccountToken: token }) =>
        token !== undefined && fails((errors) => checkLocalPath(token.path ?? "", "", errors)),
    ),
  );
}

export function hasHostSysctl(spec: Part): boolean {
  return items(spec.securityContext?.sysctls).some(({ name = "" }) => isHostSysctl(name, spec) !== undefined);
}

export function hasEnvFile(spec: Part): boolean {
  return someContainer(spec, ({ env }) => items(env).some(({ valueFrom }) => valueFrom?.fileKeyRef !== undefined));
}

export function hasRestartRules({ initContainers, containers }: Part): boolean {
  return (
    items(initContainers).some(
      (container) =>
        (container.restartPolicy !== undefined && !isSidecar(container)) ||
        items(container.restartPolicyRules).length > 0,
    ) || items(containers).some(({ restartPolicy }) => restartPolicy !== undefined)
  );
}

export function restartsAllContainers({ initContainers, containers }: Part): boolean {
  const restartsAll = ({ restartPolicyRules }: Part): boolean =>
    items(restartPolicyRules).some(({ action }) => action === "RestartAllContainers");
  const isSidecarWithRules = (container: Part): boolean =>
    isSidecar(container) && items(container.restartPolicyRules).length > 0;
  return (
    items(containers).some(restartsAll) ||
    items(initContainers).some((container) => restartsAll(container) || isSidecarWithRules(container))
  );
}

export function hasRestartingInitResize({ initContainers }: Part): boolean {
  return items(initContainers).some(
    (container) =>
      !isSidecar(container) &&
      items(container.resizePolicy).some(({ restartPolicy }) => restartPolicy === "RestartContainer"),
  );
}

export function hasUserNamespaceDevices(spec: Part): boolean {
  return spec.hostUsers === false && someContainer(spec, ({ volumeDevices }) => items(volumeDevices).length > 0);
}

export function hasComparingToleration({ tolerations }: Part): boolean {
  return items(tolerations).some(({ operator }) => operator === "Lt" || operator === "Gt");
}

function fails(validate: (errors: FieldErrors) => void): boolean {
  const errors = new FieldErrors();
  validate(errors);
  return !errors.empty;
}
