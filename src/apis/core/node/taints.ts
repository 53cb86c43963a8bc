/**
 * Taints of nodes, and the annotations that preceded them.
 * Source: `k8s.io/kubernetes@v1.36.0/pkg/apis/core/validation/validation.go`.
 */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { goTypeOf } from "../../../lib/json/go-value.ts";
import { JsonSyntaxError, parseJson } from "../../../lib/json/parse.ts";
import { isObject } from "../../../lib/json/values.ts";
import { labelValueProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";
import { taintEffects } from "../pod/tolerations.ts";

export function validateTaints(taints: readonly Part[], path: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { key = "", value = "", effect = "", timeAdded = null }] of taints.entries()) {
    const at = `${path}[${index}]`;
    addInvalid(errors, `${at}.key`, key, qualifiedNameProblems(key));
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.invalid(`${at}.value`, value, problems.join(";"));
    if (effect === "") errors.required(`${at}.effect`);
    else if (!taintEffects.includes(effect)) errors.notSupported(`${at}.effect`, effect, taintEffects);
    const pair = JSON.stringify([key, effect]);
    if (seen.has(pair)) {
      errors.duplicate(
        at,
        { Key: key, Value: value, Effect: effect, TimeAdded: timeAdded },
        "taints must be unique by key and effect pair",
      );
    }
    seen.add(pair);
  }
}

const taintsAnnotation = "scheduler.alpha.kubernetes.io/taints";
const avoidAnnotation = "scheduler.alpha.kubernetes.io/preferAvoidPods";

/** Validates annotations that older schedulers read. */
export function validateNodeAnnotations({ annotations = {} }: ObjectMeta, errors: FieldErrors): void {
  const path = "metadata.annotations";
  const taints = annotations[taintsAnnotation] ?? "";
  if (taints !== "") {
    const list = parseAs(taints, Array.isArray, "[]core.Taint");
    if (typeof list === "string") errors.invalid(path, taintsAnnotation, list);
    else validateTaints(list.filter(isObject).map(withLowerCaseKeys), `${path}.${taintsAnnotation}`, errors);
  }
  const avoided = annotations[avoidAnnotation] ?? "";
  if (avoided !== "") {
    const found = parseAs(avoided, isObject, "v1.AvoidPods");
    if (typeof found === "string") errors.invalid(`${path}.AvoidPods`, avoidAnnotation, found);
    else validateAvoided(items(withLowerCaseKeys(found).preferavoidpods), `${path}.${avoidAnnotation}`, errors);
  }
}

/** Go matches member names case-insensitively. */
function withLowerCaseKeys(struct: Part): Part {
  return Object.fromEntries(Object.entries(struct).map(([key, value]) => [key.toLowerCase(), value]));
}

/** @returns the value, or the error message of Go's decoder */
function parseAs<Value>(text: string, is: (value: unknown) => value is Value, type: string): Value | string {
  try {
    const { value } = parseJson(Buffer.from(text));
    if (is(value)) return value;
    return `json: cannot unmarshal ${goKindOf(value)} into Go value of type ${type}`;
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error.message;
    throw error;
  }
}

function goKindOf(value: unknown): string {
  if (Array.isArray(value)) return "array";
  if (isObject(value)) return "object";
  return typeof value === "boolean" ? "bool" : typeof value === "string" ? goTypeOf(value) : "number";
}

function validateAvoided(entries: readonly Part[], path: string, errors: FieldErrors): void {
  for (const [index, entry] of entries.filter(isObject).entries()) {
    const signature: unknown = withLowerCaseKeys(entry).podsignature;
    const controller: unknown = isObject(signature) ? withLowerCaseKeys(signature).podcontroller : undefined;
    const at = `${path}[${index}].PodSignature`;
    if (!isObject(controller)) errors.required(at);
    else if (withLowerCaseKeys(controller).controller !== true)
      errors.invalid(`${at}.PodController.Controller`, false, "must point to a controller");
  }
}
