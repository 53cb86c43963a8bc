/** Which objects of a recording existed when it began. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { Line } from "./format.ts";
import { initialState } from "./initial-state.ts";
import { recordedRequests } from "./replay.ts";

const path = "/api/v1/namespaces/n/configmaps";
const map = (name: string, x: string, uid = name) => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "n", uid },
  data: { x },
});

/** A request and its answer, and the events of a watch. */
interface Step {
  readonly title: string;
  readonly status?: number;
  readonly query?: readonly (readonly [string, string])[];
  readonly json?: unknown;
  readonly events?: readonly (readonly [type: string, object: object])[];
}

const linesOf = (step: Step, index: number): readonly Line[] => {
  const [method = "", target = ""] = step.title.split(" ");
  const n = index + 1;
  const body = step.json === undefined ? {} : { body: { json: step.json } };
  return [
    { n, request: { method, path: target, query: step.query ?? [] } },
    { n, answer: { status: step.status ?? 200, headers: {}, ...body } },
    ...(step.events ?? []).map(([type, object]): Line => ({ n, event: { json: { type, object } } })),
  ];
};

const { apiVersion: _apiVersion, kind: _kind, ...item } = map("a", "1");
const watch = (resourceVersion: string, selector = ""): Pick<Step, "title" | "query"> => ({
  title: `GET ${path}`,
  query: [
    ["watch", "true"],
    ["resourceVersion", resourceVersion],
    ["labelSelector", selector],
  ],
});
const rows: [title: string, steps: readonly Step[], expected: readonly string[]][] = [
  [
    "the first state counts",
    [
      { title: `GET ${path}/a`, json: map("a", "1") },
      { title: `PUT ${path}/a`, json: map("a", "2") },
      { title: `GET ${path}/a`, json: map("a", "2") },
    ],
    [`${path} a 1`],
  ],
  [
    "items of lists have a kind",
    [{ title: "GET /api/v1/configmaps", json: { apiVersion: "v1", kind: "ConfigMapList", items: [item] } }],
    [`${path} a 1`],
  ],
  [
    "objects of the session are left out, also where they were seen before the answer",
    [
      { title: `GET ${path}/b`, json: map("b", "1") },
      { title: `POST ${path}`, status: 201, json: map("b", "2") },
    ],
    [],
  ],
  [
    "an object that the session replaced existed",
    [
      { title: `GET ${path}/a`, json: map("a", "1", "u1") },
      { title: `DELETE ${path}/a`, json: map("a", "1", "u1") },
      { title: `POST ${path}`, status: 201, json: map("a", "2", "u2") },
    ],
    [`${path} a 1`],
  ],
  [
    "the first events of a watch without list existed",
    [{ ...watch("0"), events: [["ADDED", map("a", "1")]] }],
    [`${path} a 1`],
  ],
  ["objects that a watch adds after a list did not", [{ ...watch("7"), events: [["ADDED", map("a", "1")]] }], []],
  [
    "objects that begin to match a selector can have existed",
    [{ ...watch("7", "x"), events: [["ADDED", map("a", "1")]] }],
    [`${path} a 1`],
  ],
  ["objects that a watch deletes existed", [{ ...watch("7"), events: [["DELETED", map("a", "1")]] }], [`${path} a 1`]],
  [
    "errors and bookmarks are no objects",
    [
      {
        ...watch("7"),
        events: [
          ["BOOKMARK", map("a", "1")],
          ["ERROR", map("b", "1")],
        ],
      },
    ],
    [],
  ],
  [
    "a Table has only metadata, until the object is read",
    [
      {
        title: `GET ${path}`,
        json: {
          apiVersion: "meta.k8s.io/v1",
          kind: "Table",
          rows: ["a", "b"].map((name) => ({
            object: { ...map(name, ""), kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1" },
          })),
        },
      },
      { title: `GET ${path}/a`, json: map("a", "1") },
    ],
    [`${path} a 1`, `${path} b metadata`],
  ],
  [
    "subresources and errors are not objects",
    [
      { title: `GET ${path}/a/scale`, json: map("a", "1") },
      { title: `GET ${path}/a`, status: 404, json: map("a", "1") },
    ],
    [],
  ],
];
for (const [title, steps, expected] of rows) {
  test(title, () => {
    const state = initialState(recordedRequests(steps.flatMap(linesOf)));
    const texts = state.map(({ collection, name, object }) => {
      const data = object?.data as { x: string } | undefined;
      return `${collection} ${name} ${data?.x ?? "metadata"}`;
    });
    assert.deepEqual(texts, expected);
  });
}
