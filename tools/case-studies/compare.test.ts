import assert from "node:assert/strict";
import { test } from "node:test";
import { compareRuns } from "./compare.ts";
import type { Run } from "./contract.ts";
import { countRequests, normalize } from "./normalize.ts";

const run = (requests: Run["requests"], kept: Run["kept"] = {}): Run => ({ requests, kept, costs: {}, seconds: 1 });

test("finds objects that differ", () => {
  const [ours, theirs] = [1, 2].map((replicas) => run({}, { "created: /a": [{ spec: { replicas } }] }));
  const { objects, differences } = compareRuns(ours as Run, theirs as Run);
  assert.equal(objects, 1);
  assert.deepEqual(differences, [{ path: ["created: /a", "0", "spec", "replicas"], ours: 1, theirs: 2 }]);
});

test("finds writes that one server has rejected, or not received", () => {
  const ours = run({ "create pods → 201": 5, "update pods/status → 422": 1, "list pods → 200": 3 });
  const theirs = run({ "create pods → 201": 9, "update pods/status → 200": 1, "delete pods → 200": 1 });
  assert.deepEqual(compareRuns(ours, theirs).writes, [
    "only to coxswain: update pods/status → 422",
    "only to kube-apiserver: update pods/status → 200",
    "only to kube-apiserver: delete pods → 200",
  ]);
});

test("accepts that another write came first", () => {
  const ours = run({ "update pods → 409": 2, "delete pods → 404": 1 });
  const theirs = run({ "delete pods → 200": 1, "patch pods → 404": 1 });
  assert.deepEqual(compareRuns(ours, theirs).writes, []);
});

test("replaces what differs between two runs, and nothing else", () => {
  const object = (uid: string, seconds: string, replicas: number): object => ({
    metadata: { uid, creationTimestamp: new Date().toISOString(), annotations: { hash: uid } },
    status: { message: `finished in ${seconds}`, replicas },
  });
  const normal = (value: unknown): unknown => normalize(value, { varying: ["hash"] });
  const uids = ["11111111-2222-4333-8444-555555555555", "66666666-7777-4888-9999-aaaaaaaaaaaa"] as const;
  assert.deepEqual(normal([object(uids[0], "1.5s", 1)]), normal([object(uids[1], "20ms", 1)]));
  assert.notDeepEqual(normal([object(uids[0], "1.5s", 1)]), normal([object(uids[1], "20ms", 2)]));
});

test("ignores the order of conditions", () => {
  const object = (...types: readonly string[]): object => ({ status: { conditions: types.map((type) => ({ type })) } });
  assert.deepEqual(normalize(object("A", "B")), normalize(object("B", "A")));
  assert.notDeepEqual(normalize(object("A", "B")), normalize(object("A", "C")));
});

test("compares Events by what they say", () => {
  const event = (name: string, message: string): object => ({
    metadata: { name },
    involvedObject: { kind: "Pod", name: "web" },
    type: "Normal",
    reason: "Done",
    message,
  });
  assert.deepEqual(normalize([event("a", "x"), event("b", "y"), event("c", "x")]), [
    "Normal Done Pod web x",
    "Normal Done Pod web y",
  ]);
});

test("counts the requests of a user in an audit log", () => {
  const line = (username: string, objectRef?: object): string =>
    JSON.stringify({
      user: { username },
      verb: "get",
      requestURI: "/readyz?x=1",
      responseStatus: { code: 200 },
      objectRef,
    });
  const log = [line("a"), line("b"), line("a", { resource: "pods", subresource: "status" }), line("a"), ""].join("\n");
  assert.deepEqual(countRequests(log, "a"), { "get /readyz → 200": 2, "get pods/status → 200": 1 });
});

test("random names are left out, and the order that they make", () => {
  const machine = (name: string, owner: string): object => ({ metadata: { name, ownerReferences: [{ name: owner }] } });
  const normal = (...items: object[]): unknown => normalize(items, { hasGeneratedNames: true });
  const first = normal(machine("shop-bcdfg", "shop"), machine("shop-md-0-zzzzz-xxxxx", "shop-md-0-zzzzz"));
  assert.deepEqual(first, normal(machine("shop-md-0-bcdfg-24567", "shop-md-0-bcdfg"), machine("shop-xxxxx", "shop")));
  assert.notDeepEqual(first, normal(machine("shop-bcdfg", "shop"), machine("shop-md-0-bcdfg", "shop-md-0")));
});
