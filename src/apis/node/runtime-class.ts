/**
 * RuntimeClass: the container runtime of pods.
 * Sources: `k8s.io/kubernetes@v1.36.0/pkg/apis/node/validation/validation.go`, `k8s.io/kubernetes@v1.36.0/pkg/registry/node/runtimeclass/strategy.go`.
 */
import type { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import {
  addInvalid,
  validateLabels,
  validateMetaAgain,
  validateMetaChangesAgain,
} from "../../apimachinery/validation/metadata.ts";
import { ageColumn, nameColumn } from "../../catalog/common-columns.ts";
import type { StoredConversion } from "../../catalog/contract.ts";
import { goForm } from "../../catalog/go-form.ts";
import { strategy } from "../../catalog/strategy.ts";
import { dnsLabelProblems, dnsSubdomainProblems } from "../../lib/names/names.ts";
import { text } from "../column.ts";
import { nodeLabelDeprecation } from "../core/pod/node-labels.ts";
import { validateResources } from "../core/pod/resources.ts";
import { validateTolerations } from "../core/pod/tolerations.ts";
import { checkImmutable, items, type Part } from "../fields.ts";

/** The strategy of RuntimeClass. */
export const runtimeClass = strategy({
  columns: [nameColumn, text("Handler", "", ({ handler }) => handler ?? ""), ageColumn],
  isolatesStatus: false,
  repeatsMetaRules: false,
  declarative: {},
  validate,
  validateUpdate(next, old, errors) {
    validateMetaAgain(next.metadata, { namespaced: false, validateName: dnsSubdomainProblems, custom: true }, errors);
    validate(next, errors);
    validateMetaChangesAgain(next.metadata, old.metadata, errors, true);
    checkImmutable(next.handler ?? "", old.handler ?? "", "handler", errors.covered("immutable"));
  },
  warnings({ scheduling }) {
    const keys = Object.keys(scheduling?.nodeSelector ?? {}).sort();
    return keys.flatMap((key) => nodeLabelDeprecation(key) ?? []).map((text) => `scheduling.nodeSelector: ${text}`);
  },
});

/** No exceptions for values of an old object. */
const resourceRules = { indivisibleHugePages: false, claimNames: new Set<string>(), ofPod: false };

function validate({ handler = "", overhead, scheduling }: KubeObject, errors: FieldErrors): void {
  if (handler === "") errors.covered().required("handler");
  else addInvalid(errors.covered("format=k8s-short-name"), "handler", handler, dnsLabelProblems(handler));
  if (overhead !== undefined) validateResources({ limits: overhead.podFixed }, "overhead", resourceRules, errors);
  if (scheduling === undefined) return;
  validateLabels(scheduling.nodeSelector, "scheduling.nodeSelector", errors);
  validateDistinctTolerations(items(scheduling.tolerations), "scheduling.tolerations", errors);
}

function validateDistinctTolerations(tolerations: readonly Part[], path: string, errors: FieldErrors): void {
  validateTolerations(tolerations, path, { comparingTolerations: false }, errors);
  const seen = new Set<string>();
  for (const [index, toleration] of tolerations.entries()) {
    const { key = "", operator = "", value = "", effect = "" } = toleration;
    const identity = JSON.stringify([key, operator, value, effect]);
    if (seen.has(identity)) errors.duplicate(`${path}[${index}]`, goForm("Toleration", toleration));
    seen.add(identity);
  }
}

/** Classes of v1alpha1, whose fields are in a spec. */
export const runtimeClassV1alpha1: StoredConversion = {
  toStorage(object) {
    const { runtimeHandler: handler, overhead, scheduling } = object.spec ?? {};
    delete object.spec;
    return Object.assign(object, { handler }, overhead && { overhead }, scheduling && { scheduling });
  },
};
