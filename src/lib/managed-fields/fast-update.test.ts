/**
 * The managed fields after an update, computed by the fast and the general algorithm. `SEED=n`
 * replays a run, COXSWAIN_TEST_FULL=1 makes thirty times as many.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import type { ManagedFieldsEntry } from "../../apimachinery/object.ts";
import { builtinSchema } from "../../catalog/builtin-schemas.ts";
import { compare, withoutFields } from "../structured-merge/compare.ts";
import { emptySet, type PathSet, pathSetOf } from "../structured-merge/set.ts";
import type { PlainMap } from "../structured-merge/typed.ts";
import type { MergeContext } from "../structured-merge/updater.ts";
import { capManagers } from "./cap.ts";
import { decodeManaged, encodeManaged, type ManagerInfo, managerId } from "./entries.ts";
import { fastUpdate } from "./fast-update.ts";
import { takeOver } from "./take-over.ts";

const schema = builtinSchema("io.k8s.api.apps.v1.Deployment");
const version = "apps/v1";
const status = pathSetOf([["f:status"]]);

/** @returns the managed fields that `takeOver` computes */
function generalAlgorithm(
  entries: ManagedFieldsEntry[],
  writer: ManagerInfo,
  live: PlainMap,
  next: PlainMap,
  ignored: PathSet,
  now: string,
) {
  const context: MergeContext = { schemaOf: () => schema, convert: (object) => object, ignored: () => ignored };
  const managed = takeOver(
    context,
    { object: live, version },
    { object: next, version },
    decodeManaged(entries),
    managerId(writer),
    now,
  );
  return encodeManaged(capManagers(managed)) ?? [];
}

function fastAlgorithm(
  entries: ManagedFieldsEntry[],
  writer: ManagerInfo,
  live: PlainMap,
  next: PlainMap,
  ignored: PathSet,
  now: string,
) {
  return fastUpdate(entries, writer, withoutFields(compare(live, next, schema), ignored), schema, now);
}

const writerNamed = (manager: string, subresource = ""): ManagerInfo => ({
  manager,
  operation: "Update",
  apiVersion: version,
  subresource,
});

test("random updates by several managers", () => {
  console.log(`SEED=${seed}`);
  const random = seededRandom(seed);
  const chance = (percent: number): boolean => random(100) < percent;
  const sometimes = <T>(value: T): T | undefined => (chance(60) ? value : undefined);
  const entriesOf = (names: readonly string[]) =>
    Object.fromEntries(names.filter(() => chance(60)).map((name) => [name, `v${random(3)}`]));
  const container = (name: string) => ({
    name,
    image: `i${random(3)}`,
    args: sometimes(["a", `b${random(2)}`]),
    env: sometimes([{ name: "A", value: `${random(3)}` }]),
  });
  const object = (): PlainMap =>
    JSON.parse(
      JSON.stringify({
        apiVersion: version,
        kind: "Deployment",
        metadata: {
          name: "d",
          labels: sometimes(entriesOf(["a", "b", "c"])),
          annotations: sometimes(entriesOf(["x", "y"])),
          finalizers: sometimes(["k.io/f"]),
        },
        spec: {
          replicas: random(3),
          selector: { matchLabels: { app: "a" } },
          strategy: sometimes({ type: "RollingUpdate" }),
          template: {
            metadata: sometimes({ labels: entriesOf(["app"]) }),
            spec: { containers: ["c", "d", "e"].filter(() => chance(70)).map(container) },
          },
        },
        status: sometimes({ replicas: random(3), conditions: sometimes([{ type: "A", status: `${random(2)}` }]) }),
      }),
    );
  const runs = process.env.COXSWAIN_TEST_FULL === "1" ? 3000 : 100;
  let fast = 0;
  for (let run = 0; run < runs; run++) {
    let live: PlainMap = {};
    let entries: ManagedFieldsEntry[] = [];
    for (let step = 0; step < 8; step++) {
      const next = chance(30) ? structuredClone(live) : object();
      if (chance(30) && next.spec !== undefined) (next.spec as PlainMap & { replicas: number }).replicas = random(3);
      const writer = writerNamed(`m${random(3)}`, chance(20) ? "status" : "");
      const now = `2026-01-0${1 + step}T00:00:00Z`;
      const ignored = chance(50) ? status : emptySet;
      const expected = generalAlgorithm(entries, writer, live, next, ignored, now);
      const got = fastAlgorithm(entries, writer, live, next, ignored, now);
      if (got !== undefined) {
        fast++;
        assert.deepEqual(got, expected, `run ${run}, step ${step}`);
        assert.equal(JSON.stringify(got), JSON.stringify(expected), `order: run ${run}, step ${step}`);
      }
      // Omitted by clients.
      live = { ...next, metadata: { ...(next.metadata as PlainMap), uid: `u${run}`, generation: step } };
      entries =
        chance(20) && expected[0] !== undefined
          ? [{ ...expected[0], operation: "Apply" as const, manager: "applier" }, ...expected.slice(1)]
          : expected;
    }
  }
  assert.ok(fast > runs, `${fast} of ${runs * 8} with the fast algorithm`);
});

const live = {
  metadata: { labels: { a: "1" } },
  spec: { replicas: 1, template: { spec: { containers: [{ name: "c", image: "i" }] } } },
};
const own = (fieldsV1: Record<string, unknown>): ManagedFieldsEntry => ({
  manager: "m",
  operation: "Update",
  apiVersion: version,
  time: "2026-01-01T00:00:00Z",
  fieldsType: "FieldsV1",
  fieldsV1,
});
const replicas = { "f:spec": { "f:replicas": {} } };
const labelA = { "f:metadata": { "f:labels": { "f:a": {} } } };

/** Entries, and whether the fast algorithm applies when `m` scales. */
const rows: readonly [what: string, entries: ManagedFieldsEntry[], fast: boolean][] = [
  ["the writer's own field", [own(replicas)], true],
  ["an unmanaged field", [own({ "f:metadata": { "f:labels": { "f:a": {} } } })], true],
  [
    "another's other field",
    [own(replicas), { ...own({ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } }), manager: "n" }],
    true,
  ],
  ["another's field", [{ ...own(replicas), manager: "n" }], false],
  ["an applier's field", [{ ...own(replicas), operation: "Apply" }], false],
  [
    "another manager with two entries",
    [own(replicas), { ...own(labelA), manager: "n" }, { ...own(labelA), manager: "n" }],
    false,
  ],
  ["another version", [{ ...own(replicas), apiVersion: "apps/v1beta1" }], false],
  ["nothing", [own({})], false],
  ["the root", [own({ ".": {}, ...replicas })], false],
  [
    "inside an atomic list",
    [
      own({ "f:metadata": { "f:finalizers": { 'v:"a"': {} } }, ...replicas }),
      { ...own({ "f:spec": { "f:selector": { "f:matchLabels": {} } } }), manager: "n" },
    ],
    false,
  ],
  [
    "keys in another form",
    [
      own({
        "f:spec": { "f:replicas": {}, "f:template": { "f:spec": { "f:containers": { 'k:{"name": "c"}': {} } } } },
      }),
    ],
    false,
  ],
  ["no field", [own({ "f:spec": { replicas: {} } })], false],
  ["a number", [own({ "f:spec": 1 })], false],
  ["a list", [own({ "f:spec": [] })], false],
];

for (const [what, entries, fast] of rows) {
  test(`a field changes: ${what}`, () => {
    const next = { ...live, spec: { ...live.spec, replicas: 2 } };
    const got = fastAlgorithm(entries, writerNamed("m"), live, next, emptySet, "2026-01-02T00:00:00Z");
    assert.equal(got !== undefined, fast);
    if (fast)
      assert.deepEqual(got, generalAlgorithm(entries, writerNamed("m"), live, next, emptySet, "2026-01-02T00:00:00Z"));
  });
}

test("removes the entry of a manager without fields", () => {
  const next = { ...live, metadata: {} };
  const entries = [own({ "f:metadata": { "f:labels": { ".": {}, "f:a": {} } } })];
  assert.deepEqual(fastAlgorithm(entries, writerNamed("m"), live, next, emptySet, "2026-01-02T00:00:00Z"), []);
  assert.deepEqual(generalAlgorithm(entries, writerNamed("m"), live, next, emptySet, "2026-01-02T00:00:00Z"), []);
});

test("leaves more than ten managers to the general algorithm", () => {
  const entries = Array.from({ length: 10 }, (_, index) => ({
    ...own({ "f:metadata": { "f:labels": { [`f:l${index}`]: {} } } }),
    manager: `m${index}`,
  }));
  const next = { ...live, spec: { ...live.spec, replicas: 2 } };
  assert.equal(fastAlgorithm(entries, writerNamed("m"), live, next, emptySet, "2026-01-02T00:00:00Z"), undefined);
});
