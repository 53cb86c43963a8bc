import assert from "node:assert/strict";
import { test } from "node:test";
import { describePieces, uncovered } from "./cover.ts";
import type { PolicyRule } from "./rule.ts";

const pods: PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "pods/log"] };

const rows: [what: string, owned: PolicyRule[], requested: PolicyRule[], missing: string[]][] = [
  ["equal rules", [pods], [pods], []],
  ["wildcards for verbs, groups and resources", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], [pods], []],
  [
    "no rules",
    [],
    [pods],
    [
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]}',
    ],
  ],
  [
    "a rule without one verb",
    [{ ...pods, verbs: ["get"] }],
    [{ ...pods, resources: ["pods"] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
  ],
  [
    "several rules for different verbs",
    [
      { ...pods, verbs: ["get"] },
      { ...pods, verbs: ["list"] },
    ],
    [pods],
    [],
  ],
  ["a subresource of every resource", [{ ...pods, resources: ["*/log"] }], [{ ...pods, resources: ["pods/log"] }], []],
  [
    "only named objects, of every object",
    [{ ...pods, resourceNames: ["a"] }],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    "one of two names",
    [{ ...pods, resourceNames: ["a"] }],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a", "b"] }],
    ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  ["every name", [pods], [{ ...pods, resourceNames: ["a", "b"] }], []],
  [
    "a path with a wildcard",
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/b", "/a/*"] }],
    [],
  ],
  [
    "a different path",
    [{ verbs: ["get"], nonResourceURLs: ["/a"] }],
    [{ verbs: ["get", "put"], nonResourceURLs: ["/a", "/b"] }],
    [
      '{NonResourceURLs:["/a"], Verbs:["put"]}',
      '{NonResourceURLs:["/b"], Verbs:["get"]}',
      '{NonResourceURLs:["/b"], Verbs:["put"]}',
    ],
  ],
];

for (const [what, owned, requested, missing] of rows) {
  test(`${what}: ${missing.length === 0 ? "covers the request" : `lacks ${missing.join()}`}`, () => {
    assert.deepEqual(describePieces(uncovered(owned, requested)), missing);
  });
}
