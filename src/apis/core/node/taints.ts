/** Taints of nodes, and the annotations that held such things before. Source: kubernetes pkg/apis/core/validation. */
import type { FieldErrors } from "../../../apimachinery/field-errors.ts";
import type { ObjectMeta } from "../../../apimachinery/object.ts";
import { addInvalid } from "../../../apimachinery/validation/metadata.ts";
import { goTypeOf } from "../../../lib/json/go-value.ts";
import { JsonSyntaxError, parseJson } from "../../../lib/json/parse.ts";
import { isObject } from "../../../lib/json/values.ts";
import { labelValueProblems, qualifiedNameProblems } from "../../../lib/names/names.ts";
import { items, type Part } from "../../fields.ts";

const effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

export function validateTaints(taints: readonly Part[], path: string, errors: FieldErrors): void {
  const seen = new Set<string>();
  for (const [index, { key = "", value = "", effect = "", timeAdded = null }] of taints.entries()) {
    const at = `${path}[${index}]`;
    addInvalid(errors, `${at}.key`, key, qualifiedNameProblems(key));
    const problems = labelValueProblems(value);
    if (problems.length > 0) errors.invalid(`${at}.value`, value, problems.join(";"));
    if (effect === "") errors.required(`${at}.effect`);
    else if (!effects.includes(effect)) errors.notSupported(`${at}.effect`, effect, effects);
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

/** What older schedulers read. */
export function validateNodeAnnotations({ annotations = {} }: ObjectMeta, errors: FieldErrors): void {
  const path = "metadata.annotations";
  const taints = annotations[taintsAnnotation] ?? "";
  if (taints !== "") {
    const list = parsedAs(taints, Array.isArray, "[]core.Taint");
    if (typeof list === "string") errors.invalid(path, taintsAnnotation, list);
    else validateTaints(list.filter(isObject).map(ofAnyCase), `${path}.${taintsAnnotation}`, errors);
  }
  const avoided = annotations[avoidAnnotation] ?? "";
  if (avoided !== "") {
    const found = parsedAs(avoided, isObject, "v1.AvoidPods");
    if (typeof found === "string") errors.invalid(`${path}.AvoidPods`, avoidAnnotation, found);
    else validateAvoided(items(ofAnyCase(found).preferavoidpods), `${path}.${avoidAnnotation}`, errors);
  }
}

/** Go finds members of whatever case. */
function ofAnyCase(struct: Part): Part {
  return Object.fromEntries(Object.entries(struct).map(([key, value]) => [key.toLowerCase(), value]));
}

/** @returns what is wrong with the text, as Go says it */
function parsedAs<Value>(text: string, is: (value: unknown) => value is Value, type: string): Value | string {
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
    const signature: unknown = ofAnyCase(entry).podsignature;
    const controller: unknown = isObject(signature) ? ofAnyCase(signature).podcontroller : undefined;
    const at = `${path}[${index}].PodSignature`;
    if (!isObject(controller)) errors.required(at);
    else if (ofAnyCase(controller).controller !== true)
      errors.invalid(`${at}.PodController.Controller`, false, "must point to a controller");
  }
}
