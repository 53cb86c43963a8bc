import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { seed } from "../../test/support/seed.ts";
import { seededRandom } from "../../test/support/seeded-random.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import type { Part } from "../apis/fields.ts";
import { bootstrapObjects } from "../controllers/flow-control/objects/bootstrap-objects.ts";
import { compileClassifier, inMatchingOrder } from "./classifier.ts";
import type { RequestDigest } from "./contract.ts";
import { type FlowSchema, readFlowSchema } from "./flow-schema.ts";

interface Row {
  readonly rule: Part;
  readonly request: RequestDigest["info"] & { readonly user: string; readonly groups: readonly string[] | null };
  readonly matches: boolean;
}

const rows: Row[] = gunzipSync(readFileSync(join(import.meta.dirname, "testdata/matching.jsonl.gz")))
  .toString()
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

const digestOf = ({ user, groups, ...info }: Row["request"]): RequestDigest => ({
  user: { name: user, groups: groups ?? [] },
  info,
});

const schemaWith = (name: string, precedence: number, rules: readonly Part[]): FlowSchema => ({
  name,
  uid: "",
  level: "",
  precedence,
  distinguisher: undefined,
  rules,
});

test("matches the rules of upstream's tests as upstream does", () => {
  assert.ok(rows.length > 800);
  for (const { rule, request, matches } of rows) {
    const found = compileClassifier([schemaWith("a", 1, [rule])])(digestOf(request));
    assert.equal(found !== undefined, matches, JSON.stringify({ rule, request }));
  }
});

test(`random flow schemas: the first match in order, as a walk over all of them (SEED=${seed})`, () => {
  const random = seededRandom(seed);
  const pick = (): Row => rows[random(rows.length)] as Row;
  for (let round = 0; round < 300; round++) {
    const rulesOf = (): Part[] => Array.from({ length: random(4) }, () => pick().rule);
    const schemas = Array.from({ length: 1 + random(12) }, (_, index) =>
      schemaWith(`s${index}`, 1 + random(4), rulesOf()),
    );
    const ordered = inMatchingOrder(schemas);
    const digest = digestOf(pick().request);
    const expected = ordered.find((schema) => compileClassifier([schema])(digest) !== undefined);
    assert.equal(compileClassifier(ordered)(digest)?.name, expected?.name);
  }
});

test("sorts by precedence, then by name", () => {
  const schemas = [schemaWith("b", 2, []), schemaWith("c", 1, []), schemaWith("a", 2, [])];
  assert.deepEqual(
    inMatchingOrder(schemas).map(({ name }) => name),
    ["c", "a", "b"],
  );
});

const classify = compileClassifier(
  inMatchingOrder(
    bootstrapObjects
      .filter(({ object }) => object.kind === "FlowSchema")
      .map(({ object }) => readFlowSchema({ apiVersion: "", ...object } as KubeObject)),
  ),
);
const authenticated = "system:authenticated";
const pods = { isResourceRequest: true, path: "", verb: "list", group: "", resource: "pods", subresource: "" };
const lease = { ...pods, verb: "update", group: "coordination.k8s.io", resource: "leases", namespace: "x" };
const path = (one: string, verb = "get") => ({
  ...pods,
  isResourceRequest: false,
  path: one,
  verb,
  resource: "",
  namespace: "",
});

const defaults: [user: string, groups: string[], info: RequestDigest["info"], schema: string | undefined][] = [
  ["admin", ["system:masters", authenticated], { ...pods, namespace: "x" }, "exempt"],
  ["alice", [authenticated], { ...pods, namespace: "x" }, "global-default"],
  ["alice", [authenticated], path("/readyz"), "probes"],
  ["system:anonymous", ["system:unauthenticated"], path("/livez/ping"), "probes"],
  ["alice", [authenticated], path("/readyz", "post"), "global-default"],
  ["alice", [authenticated], path("/readyzz"), "global-default"],
  ["system:node:a", ["system:nodes", authenticated], lease, "system-node-high"],
  ["system:node:a", ["system:nodes", authenticated], { ...pods, namespace: "" }, "system-nodes"],
  ["system:kube-scheduler", [authenticated], lease, "system-leader-election"],
  ["system:kube-scheduler", [authenticated], { ...lease, verb: "delete" }, "kube-scheduler"],
  ["system:serviceaccount:kube-system:x", ["system:serviceaccounts", authenticated], lease, "system-leader-election"],
  [
    "system:serviceaccount:kube-system:x",
    ["system:serviceaccounts", authenticated],
    { ...pods, namespace: "x" },
    "kube-system-service-accounts",
  ],
  ["system:serviceaccount:kube-systems:x", ["system:serviceaccounts", authenticated], lease, "service-accounts"],
  ["eve", [], { ...pods, namespace: "x" }, undefined],
];

for (const [user, groups, info, schema] of defaults) {
  test(`the default configuration classifies ${info.verb} ${info.resource}${info.path} of ${user} as ${schema}`, () =>
    assert.equal(classify({ user: { name: user, groups }, info })?.name, schema));
}
