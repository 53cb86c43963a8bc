/** Deletions: owners, finalizers, propagation, preconditions, grace periods, collections. */
import type { Area, Step } from "../contract.ts";
import type { Random } from "../random.ts";
import { type Kind, kindOf } from "../samples.ts";
import { create, named, patchTypes, pathOf, query } from "./steps.ts";

export const deletions: Area = {
  name: "deletions",
  make(random) {
    const kinds = random
      .pick([
        ["configmaps", "pods"],
        ["deployments", "replicasets"],
        ["pods", "secrets"],
        ["jobs", "pods"],
        ["persistentvolumeclaims", "persistentvolumes"],
        ["namespaces", "nodes"],
        ["services", "endpointslices"],
      ])
      .map(kindOf);
    const steps = kinds.map((kind, at) => owned(kind, `k${at}`, random));
    for (let times = 6 + random.below(8); times > 0; times--) steps.push(operation(random.pick(kinds), random));
    return steps;
  },
};

function owned(kind: Kind, id: string, random: Random): Step {
  const sample = named(random.pick(kind.samples).object, kind, "a");
  const metadata = {
    ...(sample.metadata as object),
    ...(random.chance(0.5) && { finalizers: random.pick(finalizers) }),
    ...(id === "k1" && random.chance(0.5) && { ownerReferences: [ownerOf(random)] }),
  };
  return create(kind, { ...sample, metadata }, id);
}

const finalizers: readonly (readonly string[])[] = [
  ["example.com/a"],
  ["example.com/a", "example.com/b"],
  ["foregroundDeletion"],
  ["orphan"],
  ["orphan", "foregroundDeletion"],
  ["kubernetes"],
  ["a"],
];

function ownerOf(random: Random): object {
  return {
    apiVersion: "{{k0.apiVersion}}",
    kind: "{{k0.kind}}",
    name: "a",
    uid: "{{k0.metadata.uid}}",
    ...(random.chance(0.5) && { controller: random.chance(0.5) }),
    ...(random.chance(0.5) && { blockOwnerDeletion: random.chance(0.7) }),
  };
}

const propagations = ["Foreground", "Background", "Orphan", "Other", ""];

function options(random: Random): object | undefined {
  if (random.chance(0.3)) return undefined;
  const precondition = random.pick<object>([
    { uid: "{{k0.metadata.uid}}" },
    { uid: "11111111-0000-0000-0000-000000000000" },
    { resourceVersion: "{{k0.metadata.resourceVersion}}" },
    { resourceVersion: "1" },
    { uid: "" },
    {},
  ]);
  return {
    ...(random.chance(0.4) && { kind: "DeleteOptions", apiVersion: random.pick(["v1", "v1", "apps/v1", "v2"]) }),
    ...(random.chance(0.4) && { gracePeriodSeconds: random.pick<unknown>([0, 1, 5, 30, 100, -1, null, "1"]) }),
    ...(random.chance(0.4) && { propagationPolicy: random.pick(propagations) }),
    ...(random.chance(0.1) && { orphanDependents: random.chance(0.5) }),
    ...(random.chance(0.3) && { preconditions: precondition }),
    ...(random.chance(0.1) && { dryRun: random.pick([["All"], ["Other"], [], ["All", "All"]]) }),
    ...(random.chance(0.05) && { ignoreStoreReadErrorWithClusterBreakingPotential: random.chance(0.5) }),
    ...(random.chance(0.05) && { unknown: 1 }),
  };
}

function operation(kind: Kind, random: Random): Step {
  const path = pathOf(kind);
  const roll = random.below(14);
  const body = options(random);
  // A body hides the query from upstream, which then deletes: here a dry run of either is dry.
  const target = body === undefined ? `${path}${deleteQuery(random)}` : path;
  if (roll < 6) return { method: "DELETE", path: target, ...(body && { body }) };
  if (roll < 7 && kind.namespaced)
    return {
      method: "DELETE",
      path: `${kind.collection}${body === undefined ? deleteQuery(random) : ""}`,
      ...(body && { body }),
    };
  if (roll < 9) return { method: "GET", path };
  if (roll < 11) return patch(path, { finalizers: random.pick<unknown>([null, [], ...finalizers]) });
  if (roll < 12)
    return patch(path, {
      ownerReferences: random.pick<unknown>([null, [ownerOf(random)], [ownerOf(random), ownerOf(random)]]),
    });
  if (roll < 13)
    return patch(
      path,
      random.pick<object>([{ deletionGracePeriodSeconds: 1 }, { deletionTimestamp: null }, { labels: { a: "b" } }]),
    );
  return create(kind, named(random.pick(kind.samples).object, kind, "a"));
}

function deleteQuery(random: Random): string {
  return query(
    random.chance(0.15) && `gracePeriodSeconds=${random.pick(["0", "1", "-1", "a", "30"])}`,
    random.chance(0.15) && `propagationPolicy=${random.pick(propagations)}`,
    random.chance(0.06) && `orphanDependents=${random.pick(["true", "false", "a"])}`,
    random.chance(0.06) && "dryRun=All",
  );
}

function patch(path: string, metadata: object): Step {
  return { method: "PATCH", path, headers: { "content-type": patchTypes.merge }, body: { metadata } };
}
