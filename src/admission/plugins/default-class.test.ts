/**
 * Of several default classes the newest counts, and among those of one second the first by name.
 * Source: k8s.io/kubernetes@v1.36.0/pkg/volume/util/storageclass.go, GetDefaultClass, and
 * plugin/pkg/admission/network/defaultingressclass/admission.go, getDefaultClass.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { defaultIngressClass } from "./default-ingress-class.ts";
import { defaultStorageClass } from "./default-storage-class.ts";

interface Kind {
  readonly classes: Place;
  readonly annotation: string;
  readonly classFields: object;
  readonly users: Place;
  readonly userSpec: object;
  readonly field: string;
}

const kinds: Readonly<Record<string, Kind>> = {
  StorageClass: {
    classes: ["storage.k8s.io/storageclasses", ""],
    annotation: "storageclass.kubernetes.io/is-default-class",
    classFields: { provisioner: "example.com/p" },
    users: ["/persistentvolumeclaims", "default"],
    userSpec: { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } },
    field: "storageClassName",
  },
  IngressClass: {
    classes: ["networking.k8s.io/ingressclasses", ""],
    annotation: "ingressclass.kubernetes.io/is-default-class",
    classFields: { spec: { controller: "example.com/c" } },
    users: ["networking.k8s.io/ingresses", "default"],
    userSpec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } },
    field: "ingressClassName",
  },
};

/** A step, the time before it in seconds, and the class of an object that is created after it. */
const steps: readonly (readonly [
  what: string,
  seconds: number,
  run: (cluster: Cluster) => Promise<void>,
  expected: string | undefined,
])[] = [
  ["a class that is not a default", 0, ({ create }) => create("a", "false"), undefined],
  ["a default", 0, ({ create }) => create("m", "true"), "m"],
  ["a default of the same second, later by name", 0, ({ create }) => create("z", "true"), "m"],
  ["a default of the same second, earlier by name", 0, ({ create }) => create("b", "true"), "b"],
  ["a default of the next second", 1, ({ create }) => create("y", "true"), "y"],
  ["a default of that second, earlier by name", 0, ({ create }) => create("x", "true"), "x"],
  ["a default of the next minute and year", 60, ({ create }) => create("zz", "true"), "zz"],
  ["a default of a later year", 400 * 86_400, ({ create }) => create("c", "true"), "c"],
  ["a class that is not a default, which is newer", 1, ({ create }) => create("d", "false"), "c"],
  ["the newest default is deleted", 1, ({ remove }) => remove("c"), "zz"],
  ["the newest default is marked otherwise", 1, ({ mark }) => mark("zz", "false"), "x"],
  ["an old class becomes a default", 1, ({ mark }) => mark("a", "true"), "x"],
  ["the newer defaults are deleted", 1, ({ remove }) => remove("x", "y"), "a"],
];

interface Cluster {
  create(name: string, isDefault: string): Promise<void>;
  mark(name: string, isDefault: string): Promise<void>;
  remove(...names: string[]): Promise<void>;
  /** Creates an object without class. @returns the class that it has then */
  defaultClass(): Promise<string | undefined>;
}

function clusterOf(registry: MemoryRegistry, kind: Kind): Cluster {
  let users = 0;
  return {
    async create(name, isDefault) {
      const annotations = { [kind.annotation]: isDefault };
      await registry.create(kind.classes, { ...kind.classFields, metadata: { name, annotations } });
    },
    mark: (name, isDefault) =>
      registry.change(kind.classes, name, ({ metadata }) => {
        metadata.annotations = { [kind.annotation]: isDefault };
      }),
    async remove(...names) {
      for (const name of names) await registry.delete(kind.classes, name);
    },
    async defaultClass() {
      const object = { metadata: { name: `u${users++}` }, spec: { ...kind.userSpec } };
      const { spec }: KubeObject = await registry.create(kind.users, object);
      return spec?.[kind.field];
    },
  };
}

for (const [name, kind] of Object.entries(kinds))
  test(`the default ${name} is the newest, then the first by name`, async () => {
    const clock = manualClock(Date.parse("2026-12-31T23:59:58.900Z"));
    const registry = await openMemoryRegistry({
      clock,
      plugins: (catalog) => [defaultStorageClass(catalog), defaultIngressClass(catalog)],
    });
    await registry.create(["/namespaces", ""], { metadata: { name: "default" } });
    const cluster = clusterOf(registry, kind);
    for (const [what, seconds, run, expected] of steps) {
      clock.advance(seconds * 1000);
      await run(cluster);
      assert.equal(await cluster.defaultClass(), expected, what);
    }
    await registry.close();
  });
