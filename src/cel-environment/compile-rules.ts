/**
 * The rules of a schema as a tree. The rules of a node are compiled when they first run. Source:
 * k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/cel/validation.go
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

/** A schema node with rules at it or below. */
export interface RuleNode {
  readonly schema: JsonSchema;
  /** The type for field errors: `object`, `array`, `string` and so on. */
  readonly type: string;
  readonly wrap: Wrap;
  readonly rules: () => CompiledRules;
  readonly items: RuleNode | undefined;
  readonly values: RuleNode | undefined;
  readonly properties: ReadonlyMap<string, RuleNode>;
  /** The nodes in `allOf`, for the same data. */
  readonly allOf: readonly RuleNode[];
}

interface CompiledRules {
  readonly rules: readonly CompiledRule[];
  /** Whether any rule uses the old value. */
  readonly usesOldSelf: boolean;
  /** Set if expressions cannot access data of this schema, so that no rule was compiled. */
  readonly error: string | undefined;
}

interface CompileOptions {
  /** Default: `storedExpressions()`. */
  readonly environment?: Environment;
  /** Whether the schema is that of a resource, with type and metadata. Default: true. */
  readonly isResourceRoot?: boolean;
}

/**
 * Compiles the rules of a schema.
 *
 * @param schema structural, with rules that `checkRules` accepted; an invalid rule fails for all
 *   data
 * @returns undefined if there are no rules; as in kube-apiserver, rules only in `allOf` do not
 *   count
 */
export function compileRules(schema: JsonSchema, options: CompileOptions = {}): RuleNode | undefined {
  if (!hasRules(schema)) return undefined;
  const isRoot = options.isResourceRoot ?? true;
  const root: Place = { rules: schema, schema, isRoot, type: declTypeOfSchema(schema, isRoot) };
  return nodeAt(root, options.environment ?? storedExpressions());
}

function hasRules(schema: JsonSchema): boolean {
  if (rulesOf(schema).length > 0) return true;
  const below = [schema.items, valuesOf(schema), ...(propertiesOf(schema)?.values() ?? [])];
  return below.some((child) => child !== undefined && hasRules(child));
}

/** Returns the rules of a schema node. */
export function rulesOf(schema: JsonSchema): readonly ValidationRule[] {
  return schema["x-kubernetes-validations"] ?? [];
}

interface Place {
  /** The schema with the rules: `schema` itself, or a schema in one of its `allOf`. */
  readonly rules: JsonSchema;
  /** The schema of the data. */
  readonly schema: JsonSchema;
  readonly isRoot: boolean;
  /** Undefined if expressions cannot access the data. */
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
    if (property === undefined) continue; // A property without a schema has no rules.
    const isRoot = isEmbeddedResource(property);
    const escaped = escapeName(name);
    const fieldType =
      escaped === undefined
        ? declTypeOfSchema(property, isRoot)
        : type?.kind === "object"
          ? type.fields.get(escaped)
          : undefined;
    if (fieldType === undefined) continue; // Expressions cannot access the property.
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

function lazily<T>(compute: () => T): () => T {
  let computed: { readonly value: T } | undefined;
  return () => {
    computed ??= { value: compute() };
    return computed.value;
  };
}
