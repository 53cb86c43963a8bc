/**
 * Random owners, deletions and restarts against a model. Guarantees: an object with an existing
 * owner is kept; an object without remaining owners is deleted unless it was orphaned; the
 * remaining objects only have references to existing owners; every deletion completes.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Cluster, refTo, settled, withCluster } from "../../../test/support/collector-cluster.ts";
import type { Place } from "../../../test/support/memory-registry.ts";
import { seed as firstSeed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import { eventually } from "../../../test/support/until.ts";
import type { OwnerReference } from "../../apimachinery/object.ts";
import type { Controller } from "../contract.ts";

const full = process.env.COXSWAIN_TEST_FULL === "1";
const rounds = full ? 60 : 6;
const stepsMax = 12;
const objectsMax = 30;

const places: readonly Place[] = [
  ["/configmaps", "ns"],
  ["/secrets", "ns"],
  ["/serviceaccounts", "ns"],
];

/** The existing objects, and their owners. */
type Model = Map<string, Set<string>>;

interface World {
  readonly cluster: Cluster;
  readonly model: Model;
  readonly below: (limit: number) => number;
  readonly placeOf: Map<string, Place>;
  readonly references: Map<string, OwnerReference>;
  collector: Controller;
}

const pick = <T>(below: World["below"], list: readonly T[]): T => list[below(list.length)] as T;

/** Creates objects whose owners are older, so that there are no cycles. */
async function createSome({ cluster, model, below, placeOf, references }: World): Promise<void> {
  for (let count = below(8) + 1; count > 0 && placeOf.size < objectsMax; count--) {
    const name = `o${placeOf.size}`;
    const place = pick(below, places);
    const owners = new Set(
      Array.from({ length: model.size === 0 ? 0 : below(4) }, () => pick(below, [...model.keys()])),
    );
    const ownerReferences = [...owners].map((owner) => ({
      ...(references.get(owner) as OwnerReference),
      ...(below(2) === 0 && { blockOwnerDeletion: true }),
    }));
    const created = await cluster.create(place, { metadata: { name, ...(owners.size > 0 && { ownerReferences }) } });
    placeOf.set(name, place);
    references.set(name, refTo(created));
    model.set(name, owners);
  }
}

/**
 * Deletes several objects concurrently, in the background and the foreground; the result does not
 * depend on the order.
 */
async function deleteSome({ cluster, model, below, placeOf }: World): Promise<void> {
  const names = new Set(Array.from({ length: below(3) + 1 }, () => pick(below, [...model.keys()])));
  await Promise.all(
    [...names].map((name) =>
      cluster.delete(placeOf.get(name) as Place, name, {
        propagationPolicy: pick(below, ["Background", "Foreground"]),
      }),
    ),
  );
  for (const name of names) model.delete(name);
  for (let gone: string[] = [...names]; gone.length > 0; ) {
    const left = [...model].filter(([, owners]) => owners.size > 0 && [...owners].every((owner) => !model.has(owner)));
    gone = left.map(([name]) => name);
    for (const name of gone) model.delete(name);
  }
  for (const owners of model.values()) for (const owner of owners) if (!model.has(owner)) owners.delete(owner);
}

async function orphanOne({ cluster, model, below, placeOf }: World): Promise<void> {
  const name = pick(below, [...model.keys()]);
  await cluster.delete(placeOf.get(name) as Place, name, { propagationPolicy: "Orphan" });
  model.delete(name);
  for (const owners of model.values()) owners.delete(name);
}

async function restart(world: World): Promise<void> {
  await world.collector.stop();
  world.collector = world.cluster.newCollector();
  world.collector.start();
}

async function stateOf({ cluster, placeOf }: World): Promise<Record<string, string>> {
  const state: Record<string, string> = {};
  for (const [name, place] of placeOf) {
    const object = await cluster.find(place, name);
    if (object === undefined) continue;
    const { ownerReferences = [], deletionTimestamp } = object.metadata;
    state[name] =
      `${ownerReferences.map((owner) => owner.name).sort()}${deletionTimestamp === undefined ? "" : " deleting"}`;
  }
  return state;
}

const expected = (model: Model): Record<string, string> =>
  Object.fromEntries([...model].map(([name, owners]) => [name, `${[...owners].sort()}`]));

async function play(seed: number): Promise<void> {
  await withCluster(async (cluster) => {
    const world: World = {
      cluster,
      model: new Map(),
      below: seededRandom(seed),
      placeOf: new Map(),
      references: new Map(),
      collector: cluster.collector,
    };
    world.collector.start();
    try {
      for (let step = 0; step < stepsMax; step++) {
        await createSome(world);
        if (world.model.size === 0) continue;
        if (world.below(4) === 0) await orphanOne(world);
        else await deleteSome(world);
        if (world.below(3) === 0) await restart(world);
        await eventually(`the state of SEED=${seed}, step ${step}`, async () =>
          assert.deepEqual(await stateOf(world), expected(world.model)),
        );
        await settled(cluster);
        assert.deepEqual(await stateOf(world), expected(world.model), `SEED=${seed}, step ${step}, later`);
      }
    } finally {
      await world.collector.stop();
    }
  });
}

test(`${rounds} random rounds agree with the model (SEED=${firstSeed})`, async () => {
  for (let round = 0; round < rounds; round++) await play(firstSeed + round);
});
