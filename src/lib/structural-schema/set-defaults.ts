/**
 * Sets defaults, and removes nulls that are not allowed.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/defaulting/algorithm.go and
 * prunenulls.go
 */
import { cloneJson, isObject, setMember } from "../json/values.ts";
import type { JsonObject } from "./json-object.ts";
import { fieldSchema, type StructuralSchema } from "./structural-schema.ts";

/**
 * Removes every null field whose schema is neither nullable nor has a default. List items stay.
 * @param value plain JSON, changed in place
 */
export function pruneNulls(value: unknown, schema: StructuralSchema): void {
  if (Array.isArray(value)) {
    if (schema.items !== undefined && hasFields(schema.items)) for (const item of value) pruneNulls(item, schema.items);
    return;
  }
  if (!isObject(value)) return;
  for (const name of Object.keys(value)) {
    const member = value[name];
    if (typeof member !== "object") continue;
    const field = fieldSchema(schema, name);
    if (field === undefined) continue;
    if (member !== null) pruneNulls(member, field);
    else if (!field.nullable && field.default === undefined) delete value[name];
  }
}

/** Scalars in a list need no walk. */
function hasFields(schema: StructuralSchema): boolean {
  return schema.properties.size > 0 || schema.items !== undefined || typeof schema.additionalProperties === "object";
}

/**
 * Sets defaults of fields that are absent, or null although not nullable; also within defaults.
 * @param value plain JSON, changed in place
 */
export function setDefaults(value: unknown, schema: StructuralSchema): void {
  const plan = planOf(schema);
  if (plan !== undefined) applyPlan(value, plan);
}

/** The places below a schema that have defaults, so that the walk visits no others. */
interface DefaultsPlan {
  readonly defaults: readonly { readonly name: string; readonly value: unknown; readonly nullable: boolean }[];
  readonly properties: ReadonlyMap<string, DefaultsPlan>;
  /** The properties, to which `values` does not apply. */
  readonly named: ReadonlyMap<string, StructuralSchema>;
  readonly items: ElementPlan | undefined;
  readonly values: ElementPlan | undefined;
}

interface ElementPlan {
  /** Replaces a null that is not allowed. */
  readonly nullReplacement: unknown;
  readonly within: DefaultsPlan | undefined;
}

/** Depends on the schema alone. The plan is undefined when there are no defaults. */
const plans = new WeakMap<StructuralSchema, { readonly plan: DefaultsPlan | undefined }>();

function planOf(schema: StructuralSchema): DefaultsPlan | undefined {
  let cached = plans.get(schema);
  if (cached === undefined) {
    cached = { plan: makePlan(schema) };
    plans.set(schema, cached);
  }
  return cached.plan;
}

function makePlan(schema: StructuralSchema): DefaultsPlan | undefined {
  const defaults = [...schema.properties]
    .filter(([, property]) => property.default !== undefined)
    .map(([name, property]) => ({ name, value: property.default, nullable: property.nullable }));
  const properties = new Map<string, DefaultsPlan>();
  for (const [name, property] of schema.properties) {
    const plan = planOf(property);
    if (plan !== undefined) properties.set(name, plan);
  }
  const items = elementPlan(schema.items);
  const values = typeof schema.additionalProperties === "object" ? elementPlan(schema.additionalProperties) : undefined;
  if (defaults.length === 0 && properties.size === 0 && items === undefined && values === undefined) return undefined;
  return { defaults, properties, named: schema.properties, items, values };
}

function elementPlan(schema: StructuralSchema | undefined): ElementPlan | undefined {
  if (schema === undefined) return undefined;
  const nullReplacement = schema.nullable ? undefined : schema.default;
  const within = planOf(schema);
  return nullReplacement === undefined && within === undefined ? undefined : { nullReplacement, within };
}

function applyPlan(value: unknown, plan: DefaultsPlan): void {
  if (Array.isArray(value)) setInItems(value, plan);
  else if (isObject(value)) setInFields(value, plan);
}

function setInFields(object: JsonObject, plan: DefaultsPlan): void {
  for (const { name, value, nullable } of plan.defaults) {
    if (Object.hasOwn(object, name) && (nullable || object[name] !== null)) continue;
    setMember(object, name, cloneJson(value));
  }
  for (const [name, within] of plan.properties) if (Object.hasOwn(object, name)) applyPlan(object[name], within);
  const { values } = plan;
  if (values === undefined) return;
  for (const name of Object.keys(object)) {
    if (plan.named.has(name)) continue;
    if (object[name] === null && values.nullReplacement !== undefined)
      setMember(object, name, cloneJson(values.nullReplacement));
    if (values.within !== undefined) applyPlan(object[name], values.within);
  }
}

function setInItems(list: unknown[], { items }: DefaultsPlan): void {
  if (items === undefined) return;
  for (const [index, item] of list.entries()) {
    if (item === null && items.nullReplacement !== undefined) list[index] = cloneJson(items.nullReplacement);
    if (items.within !== undefined) applyPlan(list[index], items.within);
  }
}
