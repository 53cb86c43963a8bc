/**
 * Compares errors and warnings of definitions with upstream's, recorded by `npm run golden
 * custom-resources`.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { testContext } from "../../../test/support/strategy-driver.ts";
import { defaultVersion } from "../../apimachinery/effective-version.ts";
import { FieldErrors } from "../../apimachinery/field-errors.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { validateObjectMeta, validateObjectMetaUpdate } from "../../apimachinery/validation/metadata.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { definitionRules } from "../../cel-environment/definition-rules.ts";
import { conform } from "../../lib/schema/decode.ts";
import { customResourceDefinitionWith } from "./custom-resource-definition.ts";

interface Row {
  readonly what: string;
  readonly definition: unknown;
  readonly old?: unknown;
  readonly want:
    | "panic"
    | {
        readonly errors: readonly [reason: string, field: string, message: string][];
        readonly warnings?: readonly string[];
      };
}

const customResourceDefinition = customResourceDefinitionWith(async () =>
  definitionRules(defaultVersion.minCompatible),
);
const file = new URL("testdata/definitions.jsonl", import.meta.url);
const schema = builtinSchema("io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition");

function decoded(definition: unknown): KubeObject {
  const object = conform(structuredClone(definition), schema).object as KubeObject;
  customResourceDefinition.setDefaults(object);
  return object;
}

async function answer({ definition, old }: Row): Promise<{ errors: string[]; warnings: string[] }> {
  const errors = new FieldErrors();
  const next = decoded(definition);
  const before = old === undefined ? undefined : decoded(old);
  if (before === undefined) {
    customResourceDefinition.prepareForCreate(next, testContext);
    const validateName = (name: string, prefix: boolean) => customResourceDefinition.validateName(name, prefix, next);
    validateObjectMeta(next.metadata, { namespaced: false, validateName }, errors);
    await customResourceDefinition.validate(next, errors, testContext);
  } else {
    next.status = structuredClone(before.status ?? {}); // As the registry does for kinds with a status subresource.
    customResourceDefinition.prepareForUpdate(next, before, testContext);
    validateObjectMetaUpdate(next.metadata, before.metadata, errors);
    await customResourceDefinition.validateUpdate(next, before, errors, testContext);
  }
  const causes = errors.causes.map(({ reason, field, message }) => [reason, field, message].join(" · "));
  return { errors: causes, warnings: customResourceDefinition.warnings(next, before, testContext).sort() };
}

const rows = readFileSync(file, "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Row);

for (const row of rows) {
  if (row.want === "panic") continue; // Tested below.
  const { errors, warnings = [] } = row.want;
  test(row.what, async () => {
    const ours = await answer(row);
    assert.deepEqual(
      { ...ours, errors: ours.errors.sort() },
      {
        errors: errors.map((cause) => cause.join(" · ")).sort(),
        warnings: warnings.toSorted(),
      },
    );
  });
}

for (const row of rows.filter(({ want }) => want === "panic")) {
  test(`${row.what}: rejected, where upstream panics`, async () => {
    assert.notDeepEqual((await answer(row)).errors, []);
  });
}

/** As kube-apiserver 1.36.0 answers. */
test("causes have upstream's order and are repeated as there", async () => {
  const version = { name: "V", served: true, storage: true };
  const definition = {
    metadata: { name: "ships", labels: { a: "b c" } },
    spec: {
      group: "example.com",
      scope: "Cluster",
      names: { plural: "ships", kind: "Ship" },
      versions: [version, version],
    },
  };
  const { errors } = await answer({ what: "", definition, want: "panic" });
  assert.match(errors[0] ?? "", /metadata\.name .*must be spec\.names\.plural/);
  assert.match(errors[1] ?? "", /metadata\.labels/);
  const stored = 'FieldValueInvalid · status.storedVersions · Invalid value: ["V"]: must have the storage version V';
  assert.equal(errors.at(-1), stored);
});
