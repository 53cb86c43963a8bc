/**
 * The rules of a whole schema, arranged as the schema is. A node's rules are compiled when data is first seen there.
 * Source: k8s.io/apiextensions-apiserver pkg/apiserver/schema/cel/validation.go
 */
import type { Environment } from "../lib/cel/index.ts";
import {
  type DeclType,
  declTypeOfSchema,
  escapeName,
  isEmbeddedResource,
  type JsonSchema,
  propertiesOf,
  type ValidationRule,
  valuesOf,
  type Wrap,
  wrapOf,
} from "../lib/cel/schema-types/index.ts";
import { type CompiledRule, compileRule, ruleEnvironments } from "./compile-rule.ts";
import { storedExpressions } from "./environments.ts";

/** A node of the schema at which there are rules, or below which there are. */
export interface RuleNode {
  readonly schema: JsonSchema;
  /** As field errors name what the rules are about: `object`, `array`, `string` and so on. */
  readonly type: string;
  readonly wrap: Wrap;
  readonly rules: () => CompiledRules;
  readonly items: RuleNode | undefined;
  readonly values: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
  /** Of `allOf`, about the same data. */
  readonly allOf: readonly RuleNode[];
}

export interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  /** Whether any of them, so that the old value is made. */
  readonly usesOldSelf: boolean;
  /** Why none could be compiled: expressions cannot see data of this schema. */
  readonly error: string | undefined;
}

export interface CompileOptions {
  /** Stored expressions' of this release when left out. */
  readonly environment?: Environment;
  /** Whether the schema is of a resource, its type and metadata included; true when left out. */
  readonly isResourceRoot?: boolean;
}

/**
 * @param schema structural; its rules are known to compile, for they were checked when the definition was written;
 *   those that do not fail whatever they are asked about
 * @returns undefined when there are no rules (those within `allOf` alone do not count, as upstream has it)
 */
export function compileRules(schema: JsonSchema, options: CompileOptions = {}): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  const isRoot = options.isResourceRoot ?? true;
  const root: Place = { rules: schema, schema, isRoot, type: declTypeOfSchema(schema, isRoot) };
  return nodeAt(root, options.environment ?? storedExpressions());
}

export function hasRules(schema: JsonSchema): boolean {
  if (rulesOf(schema).length > 0) return true;
  const below = [schema.items, valuesOf(schema), ...(propertiesOf(schema)?.values() ?? [])];
  return below.some((child) => child !== undefined && hasRules(child));
}

export function rulesOf(schema: JsonSchema): readonly ValidationRule[] {
  return schema["x-kubernetes-validations"] ?? [];
}

interface Place {
  /** Where rules are read: the schema itself, or what stands in one of its `allOf`. */
  readonly rules: JsonSchema;
  /** What describes the data. */
  readonly schema: JsonSchema;
  readonly isRoot: boolean;
  /** Undefined when expressions cannot see it. */
  readonly type: DeclType | undefined;
}

function nodeAt(place: Place, environment: Environment): RuleNode | undefined {
  const { rules, schema, isRoot, type } = place;
  const element = type?.kind === "list" || type?.kind === "map" ? type.element : undefined;
  const child = (within: JsonSchema | undefined, described: JsonSchema | undefined): RuleNode | undefined => {
    if (within === undefined || described === undefined) return undefined;
    return nodeAt(
      { rules: within, schema: described, isRoot: isEmbeddedResource(described), type: element },
      environment,
    );
  };
  const items = child(rules.items, schema.items);
  const values = child(valuesOf(rules), valuesOf(schema));
  const properties = propertiesAt(place, environment);
  const allOf = (rules.allOf ?? [])
    .map((nested) => nodeAt({ ...place, rules: nested }, environment))
    .filter((node) => node !== undefined);
  const own = rulesOf(rules);
  if (own.length === 0 && items === undefined && values === undefined && properties.size === 0 && allOf.length === 0)
    return undefined;
  const wrap = wrapOf(schema, isRoot);
  return {
    schema,
    type: schema.type ?? "",
    wrap,
    items,
    values,
    properties,
    allOf,
    rules: lazily(() => compileAll(own, schema, type, environment)),
  };
}

function propertiesAt({ rules, schema, type }: Place, environment: Environment): ReadonlyMap<string, RuleNode> {
  const nodes = new Map<string, RuleNode>();
  const described = propertiesOf(schema);
  for (const [name, within] of propertiesOf(rules) ?? []) {
    const property = described?.get(name);
    if (property === undefined) continue; // Rules may stand only where the schema itself has a place.
    const isRoot = isEmbeddedResource(property);
    const written = escapeName(name);
    const fieldType =
      written === undefined
        ? declTypeOfSchema(property, isRoot)
        : type?.kind === "object"
          ? type.fields.get(written)
          : undefined;
    if (fieldType === undefined) continue; // What expressions cannot see has no rules.
    const node = nodeAt({ rules: within, schema: property, isRoot, type: fieldType }, environment);
    if (node !== undefined) nodes.set(name, node);
  }
  return nodes;
}

function compileAll(
  rules: readonly ValidationRule[],
  schema: JsonSchema,
  type: DeclType | undefined,
  base: Environment,
): CompiledRules {
  if (rules.length === 0) return { rules: [], usesOldSelf: false, error: undefined };
  if (type === undefined)
    return { rules: [], usesOldSelf: false, error: "failed to convert to declType for CEL validation rules" };
  const environments = ruleEnvironments(base, type);
  const compiled = rules.map((rule) => compileRule(rule, schema, environments));
  return { rules: compiled, usesOldSelf: compiled.some((rule) => rule.usesOldSelf), error: undefined };
}

function lazily<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
