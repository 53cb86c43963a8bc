/** What is equal after normalization, and what is not. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openNormalizer } from "./normalize.ts";

const now = Date.parse("2026-01-02T03:04:05Z");
const uid = "0b9cde25-7158-478a-b2ce-d6bc1d8e05ea";
const other = "ef2ed2b9-33fd-425d-bfee-cf1a792950c9";

const rows: [what: string, bodies: readonly unknown[], expected: readonly unknown[]][] = [
  [
    "UIDs by their first appearance",
    [{ metadata: { uid } }, { owner: other, same: uid }],
    [{ metadata: { uid: "<uid 0>" } }, { owner: "<uid 1>", same: "<uid 0>" }],
  ],
  [
    "resourceVersions of objects by their first appearance",
    [{ metadata: { resourceVersion: "123" } }, { metadata: { resourceVersion: "456" } }],
    [{ metadata: { resourceVersion: "<rv 0>" } }, { metadata: { resourceVersion: "<rv 1>" } }],
  ],
  [
    "those of lists, which depend on other writes, and continue tokens",
    [
      {
        kind: "PodList",
        metadata: {
          resourceVersion: "123",
          continue: "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6ODUsInN0YXJ0IjoiL2FcdTAwMDAifQ",
          remainingItemCount: 2,
        },
        items: [],
      },
    ],
    [
      {
        kind: "PodList",
        metadata: { resourceVersion: "*", continue: '<continue after "/a\\u0000">', remainingItemCount: 2 },
        items: [],
      },
    ],
  ],
  [
    "times near the present, and no others",
    [{ a: "2026-01-02T03:04:09Z", b: "2020-01-01T00:00:00Z", c: "2026-01-02T05:00:00.123456Z" }],
    [{ a: "<now>", b: "2020-01-01T00:00:00Z", c: "<today>" }],
  ],
  ["generated names", [{ metadata: { name: "web-x7k2p" } }], [{ metadata: { name: "web-<generated>" } }]],
  ["names that only look generated", [{ name: "web-abcde" }], [{ name: "web-abcde" }]],
  ["service addresses", [{ clusterIP: "10.0.3.4" }], [{ clusterIP: "<ip 0>" }]],
  ["service addresses that the request has", [{ clusterIP: "10.0.9.9" }], [{ clusterIP: "10.0.9.9" }]],
  ["node ports", [{ nodePort: 31_000, port: 80 }], [{ nodePort: "<port>", port: 80 }]],
  [
    "managed fields in any order",
    [{ managedFields: [{ manager: "b" }, { manager: "a" }] }],
    [{ managedFields: [{ manager: "a" }, { manager: "b" }] }],
  ],
  [
    "ages in Tables",
    [{ kind: "Table", columnDefinitions: [{ name: "Name" }, { name: "Age" }], rows: [{ cells: ["5s", "5s"] }] }],
    [{ kind: "Table", columnDefinitions: [{ name: "Name" }, { name: "Age" }], rows: [{ cells: ["5s", "<age>"] }] }],
  ],
  [
    "times in protobuf",
    [
      [
        [
          1,
          [
            [1, now / 1000],
            [2, 0],
          ],
        ],
      ],
    ],
    [[[1, "<now>"]]],
  ],
  ["revisions in messages", [{ message: "too large, current: 12" }], [{ message: "too large, current: 12" }]],
  [
    "revisions in messages about versions",
    [{ message: "Too large resource version: 9, current: 12" }],
    [{ message: "Too large resource version: 9, current: <revision>" }],
  ],
];

for (const [what, bodies, expected] of rows)
  test(`normalizes ${what}`, () => {
    const normalizer = openNormalizer(now);
    normalizer.expectGeneratedNames(["web-"]);
    normalizer.keep('{"clusterIP":"10.0.9.9"}');
    assert.deepEqual(
      bodies.map((body) => normalizer.normalize(body)),
      expected,
    );
  });
