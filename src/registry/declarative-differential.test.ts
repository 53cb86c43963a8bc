/**
 * Random objects, and random changes of accepted ones: declarative and hand-written validation of
 * every kind with rules agree.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../test/support/api-client.ts";
import { DeclaredObjects } from "../../test/support/declared-object.ts";
import { openMemoryRegistry } from "../../test/support/memory-registry.ts";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { formatGroupVersion } from "../apimachinery/object.ts";
import { compileRules } from "../apimachinery/validation/declarative/compile.ts";

const count = Number(process.env.COUNT ?? 60);
const gates =
  "GenericWorkload=true,WorkloadAwarePreemption=true,TopologyAwareWorkloadScheduling=true,DRAWorkloadResourceClaims=true,GangScheduling=true";
const allVersionsOf = ["scheduling.k8s.io", "resource.k8s.io", "networking.k8s.io"];

type Part = Record<string, unknown>;

const { registry, mismatches, close } = await openMemoryRegistry({ featureGates: gates, allVersionsOf });
await send(registry, "POST /api/v1/namespaces", { metadata: { name: "work" } });
const kinds = registry.catalog.definitions().filter(({ strategy }) => strategy.declarative !== undefined);

for (const { group, resource, kind, namespaced, versions, strategy } of kinds) {
  for (const { version, schema, served, subresources } of versions) {
    if (!served) continue;
    test(`both validations agree on ${resource} of ${formatGroupVersion(group, version)}, SEED=${seed}`, async () => {
      const random = seededRandom(seed);
      const objects = new DeclaredObjects(schema, random);
      const at = group === "" ? `/api/${version}` : `/apis/${group}/${version}`;
      const path = `${at}${namespaced ? "/namespaces/work" : ""}/${resource}`;
      const typed = { kind, apiVersion: formatGroupVersion(group, version) };
      const paths = ["", ...(strategy.declarative?.subresources ?? [])].filter(
        (name) => name === "" || subresources.some((one) => one.name === name),
      );
      for (let index = 0; index < count; index++) {
        const metadata =
          random(8) === 0 ? { generateName: "A_" } : { name: random(8) === 0 ? "x".repeat(254) : `n${index}` };
        const object = { ...objects.next(), ...typed, metadata };
        const created = await send(registry, `POST ${path}`, object);
        check(`POST ${path}`, object);
        if (created.status !== 201) continue;
        for (const subresource of paths.filter((name) => name !== "scale")) {
          const line = `PUT ${path}/${(created.body as { metadata: { name: string } }).metadata.name}${subresource === "" ? "" : `/${subresource}`}`;
          const { metadata: kept, ...content } = created.body as Part;
          const changed = {
            ...objects.changed(content),
            ...typed,
            metadata: { ...(kept as Part), resourceVersion: undefined },
          };
          await send(registry, line, changed);
          check(line, changed);
        }
      }
    });
  }
}

/**
 * Fields whose declarative rules in 1.36 are stricter than the hand-written validation, which
 * decides.
 */
const stricterRules = [/^status\.allocation\.devices\.results\[\d+\]\.tolerations/];

function check(line: string, body: unknown): void {
  const unexpected = mismatches.splice(0).filter(({ field }) => !stricterRules.some((rule) => rule.test(field)));
  assert.deepEqual(unexpected, [], `${line} ${JSON.stringify(body)}`);
}

test("every validated version and subresource has rules", () => {
  for (const { versions, strategy, resource } of kinds) {
    for (const { schema, version } of versions) {
      const rules = compileRules(schema);
      const missing = ["", ...(strategy.declarative?.subresources ?? [])].filter(
        (name) => rules?.subresources.has(name) !== true,
      );
      assert.deepEqual(missing, [], `${resource} of ${version}`);
    }
  }
});

test("more than 15 kinds have rules", () => assert.ok(kinds.length > 15));
test("closes the server", () => close());
