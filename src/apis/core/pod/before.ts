/** What an object that is there already has, and may keep, though it would not be let in any more. */
import { FieldErrors } from "../../../apimachinery/field-errors.ts";
import { labelValueProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { validateLabelSelector } from "../../label-selector.ts";
import { isSidecar, someContainer } from "./containers-of.ts";
import { validateLabelKeys, validateSpreadKeys } from "./label-keys.ts";
import { checkLocalPath } from "./paths.ts";
import { isDivisibleHugePages, isHugePages } from "./quantity-names.ts";
import { isHostSysctl } from "./sysctls.ts";

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

export function hasOddAffinitySelector({ affinity }: Part): boolean {
  if (!affinity) return false;
  return [affinity.podAffinity, affinity.podAntiAffinity].some((each) => {
    const preferred = items(each?.preferredDuringSchedulingIgnoredDuringExecution).map(
      ({ podAffinityTerm }) => podAffinityTerm ?? {},
    );
    return [...items(each?.requiredDuringSchedulingIgnoredDuringExecution), ...preferred].some(
      ({ labelSelector, namespaceSelector }) => isOddSelector(labelSelector) || isOddSelector(namespaceSelector),
    );
  });
}

function isOddSelector(selector: Part | undefined): boolean {
  if (!selector) return false;
  return fails((errors) => validateLabelSelector(selector, "", errors));
}

export function hasOddNodeAffinityValue({ affinity }: Part): boolean {
  const terms = items(affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms);
  return terms.some(({ matchExpressions }) =>
    items(matchExpressions).some(({ values }) =>
      (values ?? []).some((value: string) => labelValueProblems(value).length > 0),
    ),
  );
}

export function hasOddSpreadSelector({ topologySpreadConstraints }: Part): boolean {
  return items(topologySpreadConstraints).some(({ labelSelector }) => isOddSelector(labelSelector));
}

export function hasOddSpreadKeys({ topologySpreadConstraints }: Part, merged: boolean): boolean {
  return items(topologySpreadConstraints).some((constraint) =>
    fails((errors) =>
      merged ? validateLabelKeys(constraint, "", errors) : validateSpreadKeys(constraint, "", errors),
    ),
  );
}

export function hasOddTokenPath({ volumes }: Part): boolean {
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
