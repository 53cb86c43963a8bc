/**
 * The time of a device taint is a default, so that it has an owner: the client whose request leaves it out. The
 * managed fields are those of kube-apiserver 1.36.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../support/manual-clock.ts";
import type { Answer } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const clock = manualClock(Date.now());
const now = (): string => new Date(clock.now()).toISOString().replace(/\.\d+Z$/, "Z");
const { client } = await startServerWithClient({
  clock,
  featureGates: "DRADeviceTaintRules=true,DRADeviceTaints=true",
  runtimeConfig: "resource.k8s.io/v1beta2=true",
});

const rules = "/apis/resource.k8s.io/v1beta2/devicetaintrules";
const slices = "/apis/resource.k8s.io/v1/resourceslices";
const taint = { key: "k", effect: "NoSchedule" };
const mergePatch = { "content-type": "application/merge-patch+json" };

function owners({ status, text, body }: Answer): Record<string, unknown> {
  assert.ok(status < 300, text);
  const entries: { manager: string; fieldsV1: { "f:spec": { "f:taint"?: object } } }[] = body.metadata.managedFields;
  return Object.fromEntries(
    entries.map(({ manager, fieldsV1 }) => [manager, Object.keys(fieldsV1["f:spec"]["f:taint"] ?? {})]),
  );
}

test("the client that leaves out the time of a DeviceTaintRule owns it", async () => {
  const created = await client.send({
    method: "POST",
    path: `${rules}?fieldManager=a`,
    body: { metadata: { name: "r" }, spec: { deviceSelector: { driver: "d" }, taint } },
  });
  assert.deepEqual(owners(created), { a: ["f:effect", "f:key", "f:timeAdded"] });
  assert.equal(created.body.spec.taint.timeAdded, now());
  clock.advance(60_000);
  const path = `${rules}/r?fieldManager=b`;
  const body = { spec: { taint: { timeAdded: null } } };
  const renewed = await client.send({ method: "PATCH", path, headers: mergePatch, body });
  assert.deepEqual(owners(renewed), { a: ["f:effect", "f:key"], b: ["f:timeAdded"] });
  assert.equal(renewed.body.spec.taint.timeAdded, now());
});

test("a changed effect has a new time without an owner", async () => {
  clock.advance(60_000);
  const path = `${rules}/r?fieldManager=c`;
  const body = { spec: { taint: { effect: "NoExecute" } } };
  const changed = await client.send({ method: "PATCH", path, headers: mergePatch, body });
  assert.deepEqual(owners(changed), { a: ["f:key"], b: ["f:timeAdded"], c: ["f:effect"] });
  assert.equal(changed.body.spec.taint.timeAdded, now());
});

test("the taints of a ResourceSlice have a time", async () => {
  const pool = { name: "p", resourceSliceCount: 1 };
  const body = {
    metadata: { name: "s" },
    spec: { driver: "d", nodeName: "n", pool, devices: [{ name: "d", taints: [taint] }] },
  };
  const created = await client.send({ method: "POST", path: slices, body });
  assert.equal(created.status, 201, created.text);
  assert.equal(created.body.spec.devices[0].taints[0].timeAdded, now());
});
