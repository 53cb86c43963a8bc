/** Checks the validation rules of all versions of a CustomResourceDefinition as the server does. */
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import { checkRuleFields, checkRules } from "../../cel-environment/index.ts";
import type { JsonSchema } from "../../lib/cel/schema-types/index.ts";
import { isObject } from "../../lib/json/values.ts";
import type { Checked } from "./contract.ts";
import type { PlainObject } from "./documents.ts";

export function checkDefinition(definition: PlainObject): Checked {
  const versions = isObject(definition.spec) && Array.isArray(definition.spec.versions) ? definition.spec.versions : [];
  const errors = new FieldErrors();
  let expressions = 0;
  for (const [index, version] of versions.entries()) {
    const schema = isObject(version) && isObject(version.schema) ? version.schema.openAPIV3Schema : undefined;
    if (!isObject(schema)) continue;
    const path = `spec.versions[${index}].schema.openAPIV3Schema`;
    for (const node of nodesOf(schema, path)) {
      checkRuleFields(node.schema, node.path, errors);
      for (const rule of node.schema["x-kubernetes-validations"] ?? [])
        expressions += rule.messageExpression === undefined ? 1 : 2;
    }
    checkRules(schema as JsonSchema, path, errors);
  }
  return {
    expressions,
    problems: errors.causes.map(({ field = "", message = "" }) => ({ field, message: withoutRule(message) })),
  };
}

const endOfRule = /"OptionalOldSelf":(?:null|true|false)\}: /;

/** Removes the rule from the server's message; the output names its field. */
function withoutRule(message: string): string {
  const end = message.startsWith('Invalid value: {"Rule":') ? endOfRule.exec(message) : null;
  return end === null ? message : message.slice(end.index + end[0].length);
}

interface Node {
  readonly schema: JsonSchema;
  readonly path: string;
}

/** All nodes of a schema, the root first. The decoder bounds the depth of documents. */
function nodesOf(schema: PlainObject, path: string): Node[] {
  const below: [unknown, string][] = ["items", "additionalProperties", "not"].map((name) => [
    schema[name],
    `${path}.${name}`,
  ]);
  for (const name of ["allOf", "anyOf", "oneOf"]) {
    if (Array.isArray(schema[name]))
      below.push(...schema[name].map((nested, index): [unknown, string] => [nested, `${path}.${name}[${index}]`]));
  }
  const { properties } = schema;
  if (isObject(properties))
    below.push(
      ...Object.entries(properties).map(([name, nested]): [unknown, string] => [nested, `${path}.properties[${name}]`]),
    );
  return [
    { schema: schema as JsonSchema, path },
    ...below.flatMap(([nested, at]) => (isObject(nested) ? nodesOf(nested, at) : [])),
  ];
}
