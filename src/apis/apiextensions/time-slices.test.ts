import assert from "node:assert/strict";
import { test } from "node:test";
import { defaultVersion } from "../../apimachinery/effective-version.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { definitionRules } from "../../cel-environment/definition-rules.ts";
import { checkDefinition } from "./definition-rules.ts";

function definition(fields: number, rules: number): KubeObject {
  const integer = {
    type: "integer",
    "x-kubernetes-validations": Array.from({ length: rules }, () => ({ rule: "self > 0" })),
  };
  const properties = Object.fromEntries(Array.from({ length: fields }, (_, at) => [`f${at}`, integer]));
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } };
  const names = { plural: "larges", singular: "large", kind: "Large", listKind: "LargeList" };
  const versions = [{ name: "v1", served: true, storage: true, schema }];
  return {
    kind: "CustomResourceDefinition",
    apiVersion: "apiextensions.k8s.io/v1",
    metadata: { name: "larges.example.com" },
    spec: { group: "example.com", scope: "Namespaced", names, versions, conversion: { strategy: "None" } },
    status: { storedVersions: ["v1"] },
  };
}

const rows: [what: string, fields: number, rules: number, turnsMin: number][] = [
  ["few fields", 100, 0, 0],
  ["many fields", 5000, 0, 4],
  ["many rules", 600, 2, 10],
];

for (const [what, fields, rules, turnsMin] of rows) {
  test(`validates ${what} and yields to the event loop at least ${turnsMin} times`, async () => {
    let turns = 0;
    let ended = false;
    const count = (): void => {
      turns++;
      if (!ended) setImmediate(count);
    };
    const errors = new FieldErrors();
    const validating = checkDefinition(
      definition(fields, rules),
      definitionRules(defaultVersion.minCompatible),
      errors,
    );
    setImmediate(count);
    await validating;
    ended = true;
    if (turnsMin === 0) assert.equal(turns, 0);
    assert.deepEqual(errors.causes, []);
    assert.ok(turns >= turnsMin, `${turns} turns`);
  });
}
