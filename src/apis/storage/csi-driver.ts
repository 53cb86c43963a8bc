/**
 * CSIDriver: the capabilities of a volume driver.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/storage/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/storage/csidriver`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import { strategy } from "../../catalog/strategy.ts";
import type { StrategyContext } from "../../catalog/strategy-contract.ts";
import { deepEqual } from "../../lib/json/values.ts";
import { checkImmutable, items, type Part, struct } from "../fields.ts";
import { csiDriverColumns } from "./columns.ts";

const tokenSecretsGate = "CSIServiceAccountTokenSecrets";
const tokensMayBeLogged =
  "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible logging of tokens in volume attributes";

/** The strategy of CSIDriver. */
export const csiDriver = strategy({
  columns: csiDriverColumns,
  isolatesStatus: false,
  hasGeneration: true,
  setDefaults(object) {
    const spec = struct(object, "spec");
    spec.attachRequired ??= true;
    spec.podInfoOnMount ??= false;
    spec.storageCapacity ??= false;
    spec.fsGroupPolicy ??= "ReadWriteOnceWithFSType";
    if (items(spec.volumeLifecycleModes).length === 0) spec.volumeLifecycleModes = ["Persistent"];
    spec.requiresRepublish ??= false;
    spec.seLinuxMount ??= false;
  },
  prepareForCreate(object, context) {
    delete object.metadata.generation; // Upstream sets it with the first change.
    setGatedDefaults(struct(object, "spec"), context);
  },
  prepareForUpdate: (next, _old, context) => setGatedDefaults(struct(next, "spec"), context),
  validate: (object, errors) => validateSpec(object.spec ?? {}, errors),
  validateUpdate(next, old, errors) {
    validateSpec(next.spec ?? {}, errors);
    checkImmutable(next.spec?.attachRequired, old.spec?.attachRequired, "spec.attachedRequired", errors);
    checkImmutable(
      next.spec?.volumeLifecycleModes,
      old.spec?.volumeLifecycleModes,
      "spec.volumeLifecycleModes",
      errors,
    );
  },
  warnings({ spec = {} }, old, { gates }) {
    const requests = items(spec.tokenRequests);
    if (requests.length === 0 || spec.serviceAccountTokenInSecrets !== undefined || !gates.enabled(tokenSecretsGate))
      return [];
    return old !== undefined && deepEqual(requests, items(old.spec?.tokenRequests)) ? [] : [tokensMayBeLogged];
  },
});

function setGatedDefaults(spec: Part, { gates }: StrategyContext): void {
  if (gates.enabled("VolumeLimitScaling")) spec.preventPodSchedulingIfMissing ??= false;
}

function validateSpec(spec: Part, errors: FieldErrors): void {
  const policies = ["File", "None", "ReadWriteOnceWithFSType"];
  const { fsGroupPolicy } = spec;
  if (fsGroupPolicy !== undefined && !policies.includes(fsGroupPolicy))
    errors.notSupported("spec.fsGroupPolicy", fsGroupPolicy, policies);
  validateTokenRequests(items(spec.tokenRequests), errors);
  for (const mode of spec.volumeLifecycleModes ?? []) {
    if (mode !== "Persistent" && mode !== "Ephemeral")
      errors.notSupported("spec.volumeLifecycleModes", mode, ["Persistent", "Ephemeral"]);
  }
  const { nodeAllocatableUpdatePeriodSeconds: period, serviceAccountTokenInSecrets: inSecrets } = spec;
  if (period < 10)
    errors.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, "must be greater than or equal to 10 seconds");
  if (inSecrets !== undefined && items(spec.tokenRequests).length === 0) {
    const why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified";
    errors.invalid("spec.serviceAccountTokenInSecrets", inSecrets, why);
  }
}

const secondsMin = 600;
const secondsMax = 2 ** 32;

function validateTokenRequests(requests: readonly Part[], errors: FieldErrors): void {
  const audiences = new Set<string>();
  for (const [index, { audience = "", expirationSeconds: seconds }] of requests.entries()) {
    const path = `spec.tokenRequests[${index}]`;
    if (audiences.has(audience)) {
      errors.duplicate(`${path}.audience`, audience);
      continue;
    }
    audiences.add(audience);
    if (seconds < secondsMin)
      errors.invalid(`${path}.expirationSeconds`, seconds, "may not specify a duration less than 10 minutes");
    if (seconds > secondsMax)
      errors.invalid(`${path}.expirationSeconds`, seconds, "may not specify a duration larger than 2^32 seconds");
  }
}
