import assert from "node:assert/strict";
import { test } from "node:test";
import { describePieces, uncovered } from "./cover.ts";
import type { PolicyRule } from "./rule.ts";

const pods: PolicyRule = { verbs: ["get", "list"], apiGroups: [""], resources: ["pods", "pods/log"] };

const rows: [what: string, owned: PolicyRule[], wanted: PolicyRule[], missing: string[]][] = [
  ["the same", [pods], [pods], []],
  ["all of everything", [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }], [pods], []],
  [
    "nothing",
    [],
    [pods],
    [
      '{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}',
      '{APIGroups:[""], Resources:["pods/log"], Verbs:["get" "list"]}',
    ],
  ],
  [
    "a verb less",
    [{ ...pods, verbs: ["get"] }],
    [{ ...pods, resources: ["pods"] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["list"]}'],
  ],
  [
    "parts in several rules",
    [
      { ...pods, verbs: ["get"] },
      { ...pods, verbs: ["list"] },
    ],
    [pods],
    [],
  ],
  ["the subresource of any", [{ ...pods, resources: ["*/log"] }], [{ ...pods, resources: ["pods/log"] }], []],
  [
    "only some names",
    [{ ...pods, resourceNames: ["a"] }],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"] }],
    ['{APIGroups:[""], Resources:["pods"], Verbs:["get"]}'],
  ],
  [
    "another name",
    [{ ...pods, resourceNames: ["a"] }],
    [{ verbs: ["get"], apiGroups: [""], resources: ["pods"], resourceNames: ["a", "b"] }],
    ['{APIGroups:[""], Resources:["pods"], ResourceNames:["b"], Verbs:["get"]}'],
  ],
  ["all names", [pods], [{ ...pods, resourceNames: ["a", "b"] }], []],
  [
    "paths below",
    [{ verbs: ["get"], nonResourceURLs: ["/a/*"] }],
    [{ verbs: ["get"], nonResourceURLs: ["/a/b", "/a/*"] }],
    [],
  ],
  [
    "other paths",
    [{ verbs: ["get"], nonResourceURLs: ["/a"] }],
    [{ verbs: ["get", "put"], nonResourceURLs: ["/a", "/b"] }],
    [
      '{NonResourceURLs:["/a"], Verbs:["put"]}',
      '{NonResourceURLs:["/b"], Verbs:["get"]}',
      '{NonResourceURLs:["/b"], Verbs:["put"]}',
    ],
  ],
];

for (const [what, owned, wanted, missing] of rows) {
  test(`who owns ${what}: ${missing.length === 0 ? "covers it" : missing.join()}`, () => {
    assert.deepEqual(describePieces(uncovered(owned, wanted)), missing);
  });
}
