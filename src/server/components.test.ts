import assert from "node:assert/strict";
import { test } from "node:test";
import { componentProbes } from "./components.ts";

const rows: [what: string, checkReadable: () => Promise<void>, want: object][] = [
  ["healthy while it can be read", () => Promise.resolve(), { status: "True", message: "ok" }],
  [
    "unhealthy while it fails",
    () => Promise.reject(new Error("no disk")),
    { status: "False", error: "error getting data from etcd: no disk" },
  ],
];
for (const [what, checkReadable, want] of rows) {
  test(`the store is ${what}`, async () =>
    assert.deepEqual(await componentProbes([{ checkReadable }])["etcd-0"]?.(), want));
}

test("each cluster is a component", async () => {
  const clusters = rows.map(([, checkReadable]) => ({ checkReadable }));
  const probes = componentProbes(clusters);
  assert.deepEqual(Object.keys(probes), ["controller-manager", "etcd-0", "etcd-1", "scheduler"]);
  assert.deepEqual(
    await Promise.all([0, 1].map((at) => probes[`etcd-${at}`]?.())),
    rows.map(([, , want]) => want),
  );
});
