/** Which difference of two answers is reported, and its cause. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { causeOf, findKnown } from "./causes.ts";
import { compareReplies } from "./compare.ts";
import type { Step } from "./contract.ts";

const reply = (status: number, body: unknown, headers: Record<string, unknown> = {}) => ({ status, headers, body });
const put: Step = { method: "PUT", path: "/apis/apps/v1/namespaces/$ns/deployments/a/status?dryRun=All" };
const get: Step = { method: "GET", path: "/api/v1/nodes" };
const merge: Step = {
  method: "PATCH",
  path: "/api/v1/namespaces/$ns/pods/a",
  headers: { "content-type": "application/merge-patch+json" },
};

const rows: [
  step: Step,
  ours: ReturnType<typeof reply>,
  theirs: ReturnType<typeof reply>,
  cause: string | undefined,
][] = [
  [get, reply(200, { a: 1 }), reply(200, { a: 1 }), undefined],
  [
    put,
    reply(422, { message: 'Deployment "a" is invalid: 3' }),
    reply(200, {}),
    'objects | PUT deployments/status | status | 422: Deployment "…" is invalid: N | N',
  ],
  [
    get,
    reply(200, {}, { warning: ["a"] }),
    reply(200, {}),
    "objects | GET nodes (all) | headers.warning | a list of some | nothing",
  ],
  [
    merge,
    reply(200, { spec: { containers: [{ name: "x" }] } }),
    reply(200, { spec: { containers: [{ name: "y" }] } }),
    "objects | PATCH merge pods | body.spec.containers.name | x | y",
  ],
  [
    get,
    reply(200, { metadata: { labels: { a: "1" } } }),
    reply(200, { metadata: { labels: { a: "2" } } }),
    "objects | GET nodes (all) | body.metadata.labels.… | N | N",
  ],
  [
    get,
    reply(409, { message: "errors: [b, a]" }),
    reply(409, { message: "errors: [a, b]" }),
    "objects | GET nodes (all) | order of body.message | errors: [b, a] | errors: [a, b]",
  ],
  [
    get,
    reply(200, { a: 1, b: 2 }),
    reply(200, { b: 2, a: 1 }),
    'objects | GET nodes (all) | order of keys | {"…":N,"…":N} | {"…":N,"…":N}',
  ],
];

for (const [step, ours, theirs, cause] of rows)
  test(cause === undefined ? "equal answers have no difference" : `finds ${cause}`, () => {
    const difference = compareReplies(ours, theirs);
    assert.equal(difference && causeOf("objects", step, difference), cause);
  });

test("compares deep lists in linear time", () => {
  const deep = (leaf: string): unknown => Array.from({ length: 60 }).reduce<unknown>((inner) => ["a", inner], leaf);
  assert.equal(compareReplies(reply(200, deep("a")), reply(200, deep("b")))?.what.startsWith("body."), true);
});

test("finds the known difference of a cause", () => {
  const known = [
    { what: "decided", kubeApiserver: "", here: "", causes: ["none", "lists \\| .* \\| 400: .* \\| 422"] },
  ];
  assert.equal(findKnown(known, "lists | GET pods (all) | status | 400: a | 422: a")?.what, "decided");
  assert.equal(findKnown(known, "lists | GET pods (all) | status | 404: a | 422: a"), undefined);
});
