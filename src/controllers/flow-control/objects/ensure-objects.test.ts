import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { send } from "../../../../test/support/api-client.ts";
import { flowControlObjects } from "../../../../test/support/flow-control-objects.ts";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../../../test/support/memory-registry.ts";
import { until } from "../../../../test/support/until.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { bootstrapObjects } from "./bootstrap-objects.ts";
import { ensureFlowControlObjects, flowControlMaintenance, maintainFlowControlObjects } from "./ensure-objects.ts";

const recorded = readFileSync(join(import.meta.dirname, "testdata/objects.jsonl"), "utf8")
  .trimEnd()
  .split("\n");
const schemas: Place = ["flowcontrol.apiserver.k8s.io/flowschemas", ""];
const levels: Place = ["flowcontrol.apiserver.k8s.io/prioritylevelconfigurations", ""];
const autoUpdate = "apf.kubernetes.io/autoupdate-spec";
const defaultSchema = specOf("FlowSchema", "global-default");

function specOf(kind: string, name: string): KubeObject["spec"] {
  return bootstrapObjects.find(({ object }) => object.kind === kind && object.metadata.name === name)?.object.spec;
}

async function withObjects(run: (cluster: MemoryRegistry) => Promise<void>): Promise<void> {
  const cluster = await openMemoryRegistry();
  await ensureFlowControlObjects(cluster.registry);
  await run(cluster);
  await cluster.close();
}

const readAll = ({ registry }: MemoryRegistry): Promise<string[]> =>
  flowControlObjects(async (path) => (await send(registry, `GET ${path}`)).body);

test("writes the objects of kube-apiserver to an empty store", () =>
  withObjects(async (cluster) => assert.deepEqual(await readAll(cluster), recorded)));

test("writes nothing when all objects are as they should be", () =>
  withObjects(async ({ registry }) => {
    const revision = await registry.storage.current();
    await ensureFlowControlObjects(registry);
    assert.equal(await registry.storage.current(), revision);
  }));

test("creates what is missing in addition to other objects", () =>
  withObjects(async (cluster) => {
    await cluster.delete(levels, "system");
    await cluster.delete(schemas, "exempt");
    await ensureFlowControlObjects(cluster.registry);
    assert.deepEqual((await cluster.find(levels, "system"))?.spec, specOf("PriorityLevelConfiguration", "system"));
    assert.deepEqual((await cluster.find(schemas, "exempt"))?.spec, specOf("FlowSchema", "exempt"));
  }));

/** A change of a suggested flow schema, and what the maintenance makes of it. */
const changes: [title: string, annotation: string | undefined, precedence: number, kept: boolean, after: string][] = [
  ["corrects the spec with the annotation true", "true", 5, false, "true"],
  ["keeps the spec with the annotation false", "false", 5, true, "false"],
  ["keeps a changed spec without the annotation", undefined, 5, true, "false"],
  ["keeps a changed spec with another value of the annotation", "maybe", 5, true, "false"],
  ["restores the annotation of an unchanged spec", undefined, 9900, false, "true"],
  ["accepts other spellings of true", "T", 5, false, "T"],
];

for (const [title, annotation, precedence, kept, after] of changes) {
  test(`${title}: a suggested object`, () =>
    withObjects(async (cluster) => {
      await cluster.change(schemas, "global-default", (object) => {
        object.metadata.annotations = annotation === undefined ? {} : { [autoUpdate]: annotation };
        object.spec.matchingPrecedence = precedence;
      });
      await maintainFlowControlObjects(cluster.registry);
      const found = await cluster.find(schemas, "global-default");
      assert.equal(found?.metadata.annotations?.[autoUpdate], after);
      assert.deepEqual(found?.spec, kept ? { ...defaultSchema, matchingPrecedence: precedence } : defaultSchema);
    }));
}

test("keeps the shares of the exempt level and corrects its annotation", () =>
  withObjects(async (cluster) => {
    await cluster.change(levels, "exempt", (object) => {
      object.metadata.annotations = { [autoUpdate]: "false" };
      object.spec.exempt = { nominalConcurrencyShares: 7, lendablePercent: 9 };
    });
    await maintainFlowControlObjects(cluster.registry);
    const found = await cluster.find(levels, "exempt");
    assert.equal(found?.metadata.annotations?.[autoUpdate], "true");
    assert.deepEqual(found?.spec.exempt, { nominalConcurrencyShares: 7, lendablePercent: 9 });
  }));

test("deletes unknown objects that it may update, and no others", () =>
  withObjects(async (cluster) => {
    for (const [name, annotations] of [
      ["old", { [autoUpdate]: "true" }],
      ["kept", { [autoUpdate]: "false" }],
      ["odd", { [autoUpdate]: "x" }],
      ["own", {}],
    ] as const) {
      const metadata = { name, annotations };
      await cluster.create(schemas, { kind: "FlowSchema", metadata, spec: { ...defaultSchema } } as KubeObject);
    }
    await maintainFlowControlObjects(cluster.registry);
    const found = await Promise.all(["old", "kept", "odd", "own"].map((name) => cluster.find(schemas, name)));
    assert.deepEqual(
      found.map((object) => object?.metadata.name),
      [undefined, "kept", "odd", "own"],
    );
  }));

test("repeats the maintenance every minute", async () => {
  const clock = manualClock();
  const cluster = await openMemoryRegistry({ clock });
  await ensureFlowControlObjects(cluster.registry);
  const controller = flowControlMaintenance({
    registry: cluster.registry,
    logger: { info() {}, warn: assert.fail, error: assert.fail },
  });
  controller.start();
  for (let round = 0; round < 2; round++) {
    await cluster.delete(schemas, "catch-all");
    clock.advance(60_000);
    await until(async () => (await cluster.find(schemas, "catch-all")) !== undefined);
  }
  await controller.stop();
  await cluster.close();
});
