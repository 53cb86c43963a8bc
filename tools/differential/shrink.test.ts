/** What is left of a sequence, as long as it keeps a property. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { raw } from "./body-text.ts";
import type { Step } from "./contract.ts";
import { shrink } from "./shrink.ts";

const post = (id: string, body: object): Step => ({ id, method: "POST", path: "/a?dryRun=All&pretty=1", body });
const refer = (id: string): Step => ({ method: "GET", path: `/{{${id}.metadata.name}}` });

const rows: [what: string, steps: Step[], needle: string, expected: Step[]][] = [
  [
    "a step that is enough",
    [post("a", {}), refer("a"), { method: "GET", path: "/b" }],
    "/b",
    [{ method: "GET", path: "/b" }],
  ],
  [
    "what a step refers to",
    [post("a", {}), post("b", {}), refer("b")],
    "{{b",
    [{ id: "b", method: "POST", path: "/a", body: {} }, refer("b")],
  ],
  [
    "the fields of a body that matter",
    [post("a", { spec: { x: [1, { needle: raw("1e3") }], y: 2 }, data: {} })],
    "needle",
    [{ id: "a", method: "POST", path: "/a", body: { spec: { x: [{ needle: raw("1e3") }] } } }],
  ],
  [
    "silent steps, on which states depend",
    [
      { method: "GET", path: "/wait", silent: true },
      { method: "GET", path: "/b" },
      { method: "GET", path: "/c" },
    ],
    "/c",
    [
      { method: "GET", path: "/wait", silent: true },
      { method: "GET", path: "/c" },
    ],
  ],
  [
    "the parameters that matter",
    [post("a", {})],
    "pretty",
    [{ id: "a", method: "POST", path: "/a?pretty=1", body: {} }],
  ],
];

for (const [what, steps, needle, expected] of rows)
  test(`keeps ${what}`, async () => {
    const has = async ({ steps: smaller }: { steps: readonly Step[] }) => JSON.stringify(smaller).includes(needle);
    assert.deepEqual((await shrink({ area: "x", steps }, has, 100)).steps, expected);
  });

test("ends after the tries", async () => {
  let tries = 0;
  const steps = Array.from({ length: 30 }, (_, at): Step => ({ method: "GET", path: `/${at}` }));
  await shrink({ area: "x", steps }, async () => ++tries < 0, 7);
  assert.equal(tries, 7);
});
