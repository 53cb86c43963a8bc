/**
 * Random writes. The relations that are maintained step by step equal the result of a scan over all
 * objects, and have the size of relations that are built from scratch.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { seed as firstSeed } from "../../../test/support/seed.ts";
import { seededRandom } from "../../../test/support/seeded-random.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { type NodeBoundKind, NodeRelations, type RelatedKind } from "./relations.ts";

const nodes = ["n1", "n2", "n3"];
const namespaces = ["a", "b"];
const names = ["x", "y", "z"];
const nodeBoundKinds = ["volumeattachment", "resourceslice", "podcertificaterequest"] as const;
const kinds: readonly RelatedKind[] = [
  ...nodeBoundKinds,
  "pod",
  "secret",
  "configmap",
  "persistentvolumeclaim",
  "persistentvolume",
  "serviceaccount",
  "resourceclaim",
];

/** All stored objects, by namespace and name. */
interface World {
  readonly pods: Map<string, KubeObject>;
  readonly volumes: Map<string, KubeObject>;
  readonly nodeOf: Map<string, string>;
}

type Random = (below: number) => number;

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

function some<T>(random: Random, make: () => T): T[] {
  return Array.from({ length: random(3) }, make);
}

function randomPod(random: Random): KubeObject {
  const name = (): string => pick(random, names);
  const volume = (): object =>
    pick(random, [
      { name: name(), secret: { secretName: name() } },
      { name: name(), configMap: { name: name() } },
      { name: name(), persistentVolumeClaim: { claimName: name() } },
      { name: name(), ephemeral: {} },
      { name: name(), projected: { sources: [{ secret: { name: name() } }, { configMap: { name: name() } }] } },
      { name: name(), emptyDir: {} },
    ]);
  const env = (): object =>
    pick(random, [
      { valueFrom: { secretKeyRef: { name: name() } } },
      { valueFrom: { configMapKeyRef: { name: name() } } },
    ]);
  const isMirror = random(8) === 0;
  return {
    metadata: { ...(isMirror && { annotations: { "kubernetes.io/config.mirror": "" } }) },
    spec: {
      nodeName: random(5) === 0 ? "" : pick(random, nodes),
      serviceAccountName: random(2) === 0 ? "" : name(),
      volumes: some(random, volume),
      containers: some(random, () => ({ env: some(random, env) })),
      resourceClaims: some(random, () => ({ name: name(), ...(random(2) === 0 && { resourceClaimName: name() }) })),
    },
    status: { resourceClaimStatuses: some(random, () => ({ name: name(), resourceClaimName: name() })) },
  };
}

function randomVolume(random: Random): KubeObject {
  const reference = { name: pick(random, names), ...(random(2) === 0 && { namespace: pick(random, namespaces) }) };
  const source = pick(random, [
    { rbd: { secretRef: reference } },
    { csi: { nodeStageSecretRef: reference } },
    { hostPath: {} },
  ]);
  return {
    metadata: {},
    spec: {
      ...source,
      ...(random(4) > 0 && { claimRef: { namespace: pick(random, namespaces), name: pick(random, names) } }),
    },
  };
}

/** Changes one object, in the world and in the relations. */
function write(random: Random, world: World, relations: NodeRelations): void {
  const [namespace, name, deleted] = [pick(random, namespaces), pick(random, names), random(4) === 0];
  const what = random(5);
  if (what < 3) {
    const pod = deleted ? undefined : randomPod(random);
    if (pod !== undefined) Object.assign(pod.metadata, { namespace, name });
    set(world.pods, `${namespace}/${name}`, pod);
    relations.setPod(namespace, name, pod);
  } else if (what === 3) {
    const volume = deleted ? undefined : randomVolume(random);
    set(world.volumes, name, volume);
    relations.setVolume(name, volume);
  } else {
    const kind = pick(random, nodeBoundKinds);
    const place = kind === "podcertificaterequest" ? namespace : "";
    const node = deleted ? "" : pick(random, nodes);
    world.nodeOf.set(`${kind}/${place}/${name}`, node);
    relations.setNode(kind, place, name, node);
  }
}

function set<T>(map: Map<string, T>, key: string, value: T | undefined): void {
  if (value === undefined) map.delete(key);
  else map.set(key, value);
}

/** Builds the relations from all objects at once. */
function rebuilt({ pods, volumes, nodeOf }: World): NodeRelations {
  const relations = new NodeRelations();
  for (const [name, volume] of volumes) relations.setVolume(name, volume);
  for (const [key, node] of nodeOf) {
    const [kind, namespace, name] = key.split("/") as [NodeBoundKind, string, string];
    relations.setNode(kind, namespace, name, node);
  }
  for (const [key, pod] of pods) relations.setPod(...(key.split("/") as [string, string]), pod);
  return relations;
}

/** Finds a relation to the node by a scan over all objects. */
function isRelated(
  { pods, volumes, nodeOf }: World,
  node: string,
  kind: RelatedKind,
  namespace: string,
  name: string,
): boolean {
  const mine = [...pods.entries()].filter(([, { spec }]) => spec.nodeName === node);
  const refers = (what: RelatedKind, place: string, referred: string): boolean =>
    mine.some(([key, pod]) => key.startsWith(`${place}/`) && namesOf(pod, what).includes(referred));
  const holds = (volume: KubeObject | undefined): boolean => {
    const claim = volume?.spec.claimRef;
    return claim !== undefined && refers("persistentvolumeclaim", claim.namespace, claim.name);
  };
  if (kind === "pod") return pods.get(`${namespace}/${name}`)?.spec.nodeName === node;
  if (kind === "persistentvolume") return holds(volumes.get(name));
  if (nodeOf.get(`${kind}/${namespace}/${name}`) === node) return true;
  if (refers(kind, namespace, name)) return true;
  return (
    kind === "secret" &&
    [...volumes.values()].some((volume) => holds(volume) && secretOf(volume) === `${namespace}/${name}`)
  );
}

function secretOf({ spec: { rbd, csi, claimRef } }: KubeObject): string | undefined {
  if (rbd !== undefined) return `${rbd.secretRef.namespace ?? claimRef?.namespace}/${rbd.secretRef.name}`;
  return csi && `${csi.nodeStageSecretRef.namespace}/${csi.nodeStageSecretRef.name}`;
}

function namesOf({ metadata, spec, status }: KubeObject, kind: RelatedKind): unknown[] {
  if (metadata.annotations !== undefined) return [];
  const env: KubeObject[] = spec.containers.flatMap((container: KubeObject) =>
    container.env.map((one: KubeObject) => one.valueFrom),
  );
  const sources: KubeObject[] = spec.volumes.flatMap((volume: KubeObject) => volume.projected?.sources ?? []);
  switch (kind) {
    case "serviceaccount":
      return [spec.serviceAccountName];
    case "secret":
      return [
        ...spec.volumes.map(({ secret }: KubeObject) => secret?.secretName),
        ...env.map(({ secretKeyRef }) => secretKeyRef?.name),
        ...sources.map(({ secret }) => secret?.name),
      ];
    case "configmap":
      return [
        ...spec.volumes.map(({ configMap }: KubeObject) => configMap?.name),
        ...env.map(({ configMapKeyRef }) => configMapKeyRef?.name),
        ...sources.map(({ configMap }) => configMap?.name),
      ];
    case "persistentvolumeclaim":
      return spec.volumes.map(({ name, persistentVolumeClaim: claim, ephemeral }: KubeObject) =>
        ephemeral === undefined ? claim?.claimName : `${metadata.name}-${name}`,
      );
    case "resourceclaim":
      return spec.resourceClaims.map(
        ({ name, resourceClaimName }: KubeObject) =>
          resourceClaimName ??
          status.resourceClaimStatuses.find((each: KubeObject) => each.name === name)?.resourceClaimName,
      );
    default:
      return [];
  }
}

const rounds = process.env.COXSWAIN_TEST_FULL === "1" ? 500 : 10;

test(`${rounds} rounds of random writes from SEED=${firstSeed}: maintained relations equal a scan`, () => {
  const lookups = [...names, ...names.flatMap((pod) => names.map((volume) => `${pod}-${volume}`))];
  for (let seed = firstSeed; seed < firstSeed + rounds; seed++) {
    const random = seededRandom(seed);
    const world: World = { pods: new Map(), volumes: new Map(), nodeOf: new Map() };
    const relations = new NodeRelations();
    for (let step = 0; step < 60; step++) {
      write(random, world, relations);
      assert.equal(relations.size, rebuilt(world).size, `SEED=${seed}, step ${step}`);
      for (const node of nodes) {
        for (const kind of kinds) {
          const places = ["persistentvolume", "volumeattachment", "resourceslice"].includes(kind) ? [""] : namespaces;
          for (const namespace of places) {
            for (const name of lookups) {
              const want = isRelated(world, node, kind, namespace, name);
              assert.equal(
                relations.areRelated(node, kind, namespace, name),
                want,
                `SEED=${seed}, step ${step}: ${node} ${kind} ${namespace}/${name}`,
              );
            }
          }
        }
      }
    }
  }
});
