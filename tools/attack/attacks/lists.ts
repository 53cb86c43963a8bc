/** Selectors over a collection, and bodies with lists of many items. */
import type { RequestRow } from "../request-attack.ts";
import type { Target } from "../target.ts";

const objects = 100;
const words = (count: number): string[] => Array.from({ length: count }, (_, index) => index.toString(36));
const configMaps = ({ namespace }: Target): string => `/api/v1/namespaces/${namespace}/configmaps`;

/** Creates the collection, once for each run. */
async function fill(target: Target): Promise<void> {
  const first = await target.send({ path: `${configMaps(target)}/many-0` });
  if (first.status === 200) return;
  for (let index = 0; index < objects; index++) {
    const metadata = { name: `many-${index}`, labels: { app: `app-${index}`, tier: "a" } };
    await target.send({ method: "POST", path: configMaps(target), body: { metadata } });
  }
}

const select = (target: Target, parameter: string, text: string) => ({
  path: `${configMaps(target)}?limit=5&${parameter}=${encodeURIComponent(text)}`,
});

const patch = (target: Target, type: string, body: unknown) => ({
  method: "PATCH",
  path: `${configMaps(target)}/many-0?dryRun=All&fieldManager=attack`,
  headers: { "content-type": type },
  body: body as object,
});

const pod = (target: Target, spec: object, metadata: object = {}) => ({
  method: "POST",
  path: `/api/v1/namespaces/${target.namespace}/pods?dryRun=All`,
  body: { metadata: { name: "p", ...metadata }, spec: { containers: [{ name: "c", image: "i" }], ...spec } },
});

const numbers = (count: number): number[] => Array.from({ length: count }, (_, index) => index);

export const listRows: readonly RequestRow[] = [
  ...(
    [
      ["a label selector of thousands of values", 100_000, "labelSelector", (list) => `app in (${list.join()})`],
      [
        "a label selector of thousands of terms",
        60_000,
        "labelSelector",
        (list) => list.map((x) => `tier!=${x}x`).join(),
      ],
      ["a label selector of thousands of keys", 60_000, "labelSelector", (list) => list.map((x) => `!k${x}`).join()],
      [
        "a field selector of thousands of terms",
        30_000,
        "fieldSelector",
        (list) => list.map((x) => `metadata.name!=${x}x`).join(),
      ],
      ["a shard selector of thousands of ranges", 1_000, "shardSelector", shards],
      ["a shard selector of nested parentheses", 5_000, "shardSelector", (list) => "(".repeat(list.length)],
    ] satisfies [string, number, string, (list: string[]) => string][]
  ).map(
    ([name, size, parameter, text]): RequestRow => ({
      group: "h",
      name,
      size,
      statuses: [200, 400, 414, 431, 500],
      prepare: fill,
      request: (count, target) => select(target, parameter, text(words(count))),
    }),
  ),
  {
    group: "h",
    name: "a JSON patch whose copies double",
    size: 40,
    statuses: [413, 422],
    prepare: fill,
    request: (size, target) =>
      patch(target, "application/json-patch+json", [
        { op: "add", path: "/data", value: { a: "x".repeat(100) } },
        ...numbers(size).map((index) => ({ op: "copy", from: "/data", path: `/data/c${index}` })),
      ]),
  },
  {
    group: "h",
    name: "a JSON patch of thousands of copies",
    size: 9_000,
    prepare: fill,
    request: (size, target) =>
      patch(target, "application/json-patch+json", [
        { op: "add", path: "/data", value: { a: "x".repeat(300) } },
        ...numbers(size).map((index) => ({ op: "copy", from: "/data/a", path: `/data/c${index}` })),
      ]),
  },
  {
    group: "h",
    name: "a JSON patch that tests a large value thousands of times",
    size: 9_000,
    prepare: fill,
    request: (size, target) =>
      patch(target, "application/json-patch+json", [
        { op: "add", path: "/data", value: Object.fromEntries(words(2_000).map((word) => [word, "x"])) },
        ...numbers(size).map(() => ({ op: "copy", from: "/data", path: "/metadata/x" })),
        ...numbers(size / 10).map(() => ({ op: "test", path: "/data", value: {} })),
      ]),
    statuses: [413, 422],
  },
  {
    group: "h",
    name: "a JSON patch that inserts at the start of a list",
    size: 9_000,
    prepare: fill,
    request: (size, target) =>
      patch(target, "application/json-patch+json", [
        { op: "add", path: "/metadata/finalizers", value: numbers(4_000).map((index) => `a.b/f${index}`) },
        ...numbers(size).map((index) => ({ op: "add", path: "/metadata/finalizers/0", value: `a.b/g${index}` })),
      ]),
  },
  {
    group: "h",
    name: "a strategic merge patch of thousands of list items",
    size: 10_000,
    prepare: fill,
    request: (size, target) =>
      patch(target, "application/strategic-merge-patch+json", {
        metadata: {
          ownerReferences: numbers(size).map((index) => ({
            apiVersion: "v1",
            kind: "Pod",
            name: "p",
            uid: `u${index}`,
          })),
        },
      }),
  },
  {
    group: "h",
    name: "a server-side apply of thousands of list items",
    size: 5_000,
    prepare: fill,
    request: (size, target) =>
      patch(target, "application/apply-patch+yaml", {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: {
          name: "many-0",
          finalizers: numbers(size).map((index) => `a.b/f${index}`),
          labels: Object.fromEntries(words(size).map((word) => [`k${word}`, "v"])),
        },
      }),
  },
  {
    group: "h",
    name: "an object with thousands of equal owners",
    size: 10_000,
    request: (size, target) =>
      pod(
        target,
        {},
        { ownerReferences: numbers(size).map(() => ({ apiVersion: "v1", kind: "Pod", name: "p", uid: "u" })) },
      ),
  },
  {
    group: "h",
    name: "an object with thousands of finalizers",
    size: 30_000,
    request: (size, target) => pod(target, {}, { finalizers: numbers(size).map((index) => `a.b/f${index % 100}`) }),
  },
  {
    group: "h",
    name: "a pod with thousands of empty containers",
    size: 50_000,
    statuses: [422],
    request: (size, target) => pod(target, { containers: numbers(size).map(() => ({})) }),
  },
  {
    group: "h",
    name: "a definition with an error that shows thousands of empty schemas",
    size: 20_000,
    statuses: [422],
    request: (size) => ({
      method: "POST",
      path: "/apis/apiextensions.k8s.io/v1/customresourcedefinitions?dryRun=All",
      body: {
        metadata: { name: "as.b.c" },
        spec: {
          group: "b.c",
          scope: "Namespaced",
          names: { plural: "as", kind: "A" },
          versions: [
            { name: "v1", schema: { openAPIV3Schema: { type: "object", oneOf: numbers(size).map(() => ({})) } } },
          ],
        },
      },
    }),
  },
  ...(
    [
      [
        "equal environment variables",
        20_000,
        (size) => container({ env: numbers(size).map(() => ({ name: "A", value: "b" })) }),
      ],
      [
        "ports",
        20_000,
        (size) =>
          container({
            ports: numbers(size).map((index) => ({
              containerPort: 1 + (index % 60_000),
              hostPort: 1 + (index % 60_000),
            })),
          }),
      ],
      [
        "containers",
        5_000,
        (size) => ({ containers: numbers(size).map((index) => ({ name: `c${index}`, image: "i" })) }),
      ],
      ["volumes and mounts", 5_000, volumes],
      [
        "tolerations",
        10_000,
        (size) => ({ tolerations: numbers(size).map((index) => ({ key: `k${index}`, operator: "Exists" })) }),
      ],
      [
        "topology constraints",
        5_000,
        (size) => ({
          topologySpreadConstraints: numbers(size).map((index) => ({
            maxSkew: 1,
            topologyKey: `k${index}`,
            whenUnsatisfiable: "DoNotSchedule",
          })),
        }),
      ],
      ["pull secrets", 20_000, (size) => ({ imagePullSecrets: numbers(size).map((index) => ({ name: `s${index}` })) })],
      [
        "host aliases",
        10_000,
        (size) => ({ hostAliases: numbers(size).map(() => ({ ip: "1.2.3.4", hostnames: ["a"] })) }),
      ],
      [
        "scheduling gates",
        10_000,
        (size) => ({ schedulingGates: numbers(size).map((index) => ({ name: `g${index}` })) }),
      ],
      [
        "readiness gates",
        10_000,
        (size) => ({ readinessGates: numbers(size).map((index) => ({ conditionType: `g${index}` })) }),
      ],
      [
        "supplemental groups",
        30_000,
        (size) => ({
          securityContext: {
            supplementalGroups: numbers(size),
            sysctls: numbers(size / 10).map((index) => ({ name: `a.b${index}`, value: "1" })),
          },
        }),
      ],
    ] satisfies [string, number, (size: number) => object][]
  ).map(
    ([what, size, spec]): RequestRow => ({
      group: "h",
      name: `a pod with thousands of ${what}`,
      size,
      request: (count, target) => pod(target, spec(count)),
    }),
  ),
];

const container = (more: object): object => ({ containers: [{ name: "c", image: "i", ...more }] });

function volumes(size: number): object {
  return {
    volumes: numbers(size).map((index) => ({ name: `v${index}`, emptyDir: {} })),
    containers: [
      {
        name: "c",
        image: "i",
        volumeMounts: numbers(size).map((index) => ({ name: `v${index}`, mountPath: `/m${index}` })),
      },
    ],
  };
}

function shards(list: readonly string[]): string {
  const bound = (index: number): string => `'0x${index.toString(16).padStart(16, "0")}'`;
  return list
    .map((_, index) => `shardRange(object.metadata.uid, ${bound(2 * index)}, ${bound(2 * index + 1)})`)
    .join(" || ");
}
