/** Creates, reads, updates and deletes objects of all built-in kinds. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { builtinKinds, type Kind, type Sample } from "../samples.ts";
import { atVersion, changedSample, create, named, pathOf, query, writeQuery } from "./steps.ts";

export const objects: Area = {
  name: "objects",
  make(random) {
    const kind = random.pick(builtinKinds());
    const sample = random.pick(kind.samples);
    if (kind.isRisky) return Array.from({ length: 8 }, () => dryCreate(kind, random));
    const steps = [create(kind, sample.object, "first")];
    for (let count = 4 + random.below(8); count > 0; count--) steps.push(operation(kind, sample, random));
    return steps;
  },
};

function dryCreate(kind: Kind, random: Random): Step {
  const body = changedSample(random.pick(kind.samples), kind, "create", random, { unchanged: 0.2 });
  return { method: "POST", path: `${kind.collection}${writeQuery(random, { isDry: true })}`, body };
}

function operation(kind: Kind, sample: Sample, random: Random): Step {
  const path = pathOf(kind, random.chance(0.95) ? "a" : "b");
  const roll = random.below(20);
  if (roll < 6) return { method: "PUT", path: `${path}${writeQuery(random)}`, body: updateOf(kind, sample, random) };
  if (roll < 9) return creation(kind, random);
  if (roll < 11 && kind.subresources.includes("status")) return statusUpdate(kind, sample, random);
  if (roll < 13) return { method: "GET", path };
  if (roll < 14)
    return {
      method: "GET",
      path: `${kind.collection}${kind.namespaced ? "" : query("fieldSelector=metadata.name%3D$ns-a")}`,
    };
  if (roll < 16) return deletion(path, random);
  if (roll < 17 && kind.namespaced)
    return { method: "DELETE", path: `${kind.collection}${query(random.chance(0.5) && "dryRun=All")}` };
  return { method: "PUT", path: `${path}${writeQuery(random, { isDry: true })}`, body: updateOf(kind, sample, random) };
}

function creation(kind: Kind, random: Random): Step {
  const sample = random.pick(kind.samples);
  const body = named(changedSample(sample, kind, "create", random), kind, random.pick(["a", "b", "c"]));
  return { method: "POST", path: `${kind.collection}${writeQuery(random)}`, body };
}

function updateOf(kind: Kind, sample: Sample, random: Random): Record<string, unknown> {
  const body = changedSample(sample, kind, "update", random);
  const roll = random.below(10);
  if (roll < 6) return body;
  return atVersion(body, roll < 9 ? "{{first.metadata.resourceVersion}}" : random.pick(["", "1", "999999999"]));
}

function statusUpdate(kind: Kind, sample: Sample, random: Random): Step {
  const body = changedSample(sample, kind, "status", random);
  return { method: random.chance(0.9) ? "PUT" : "GET", path: `${pathOf(kind)}/status${writeQuery(random)}`, body };
}

function deletion(path: string, random: Random): Step {
  const options = random.pick<object | undefined>([
    undefined,
    undefined,
    { gracePeriodSeconds: random.pick([0, 1, 30, -1]) },
    { propagationPolicy: random.pick(["Foreground", "Background", "Orphan", "Other"]) },
    { preconditions: { resourceVersion: "{{first.metadata.resourceVersion}}" } },
    { preconditions: { uid: "{{first.metadata.uid}}" } },
  ]);
  return {
    method: "DELETE",
    path: `${path}${query(options === undefined && random.chance(0.3) && "dryRun=All")}`,
    ...(options && { body: options }),
  };
}
