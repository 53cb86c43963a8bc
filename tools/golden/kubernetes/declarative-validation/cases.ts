/**
 * Writes random objects of every built-in kind with declarative validation rules, one JSON object a line, for main.go:
 *   node cases.ts [SEED] [COUNT_OF_EACH_KIND]
 */
import { compileRules } from "../../../../src/apimachinery/validation/declarative/compile.ts";
import { builtinDefinitionNames, builtinSchema, builtinType } from "../../../../src/catalog/builtin-schemas.ts";
import { DeclaredObjects } from "../../../../test/support/declared-object.ts";
import { seededRandom } from "../../../../test/support/seeded-random.ts";

const [seed = "1", count = "60"] = process.argv.slice(2);
const options = ["HPAScaleToZero", "TopologyAwareWorkloadScheduling", "WorkloadAwarePreemption"];

for (const definition of builtinDefinitionNames()) {
  if (builtinType(definition).kind !== "struct") continue;
  const schema = builtinSchema(definition);
  const [gvk] = schema.groupVersionKinds ?? [];
  if (gvk === undefined || schema.byName.has("items") || !schema.byName.has("metadata")) continue;
  const rules = compileRules(schema);
  if (rules === undefined) continue;
  const random = seededRandom(Number(seed));
  const objects = new DeclaredObjects(schema, random);
  const paths = [...rules.subresources];
  for (let index = 0; index < Number(count); index++) {
    const object = objects.next();
    const subresource = paths[random(paths.length)] as string;
    const common = {
      definition,
      ...gvk,
      subresources: subresource === "" ? [] : [subresource],
      options: options.filter(() => random(2) === 0),
    };
    const one = random(2) === 0 ? { ...common, object } : { ...common, object: objects.changed(object), old: object };
    process.stdout.write(
      `${JSON.stringify(one, (_key, value) => (typeof value === "bigint" ? Number(value) : value))}\n`,
    );
  }
}
