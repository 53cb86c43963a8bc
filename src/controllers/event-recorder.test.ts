import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import { openMemoryRegistry, type Place } from "../../test/support/memory-registry.ts";
import type { Logger } from "../apimachinery/logger.ts";
import type { KubeObject } from "../apimachinery/object.ts";
import { openEventRecorder } from "./event-recorder.ts";

const fail = (message: string, values?: Record<string, unknown>): void =>
  assert.fail(`${message} ${JSON.stringify(values)}`);
const logger: Logger = { info() {}, warn: fail, error: fail };
const warning = { reason: "PortNotAllocated", action: "PortAllocation", note: "Port 1 is not allocated; repairing" };
const maps: Place = ["/configmaps", "ns"];

test("an Event has upstream's fields, and a repeated one is a series", async () => {
  const clock = manualClock(Date.parse("2026-01-02T03:04:05.678Z"));
  const cluster = await openMemoryRegistry({ clock });
  await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
  const map = await cluster.create(maps, { metadata: { name: "a" } });
  const recorder = openEventRecorder({ registry: cluster.registry, logger, component: "repair", hostname: "host" });
  const list = async (): Promise<KubeObject[]> =>
    (await cluster.registry.storage.range("/registry/events/ns/")).entries.map(({ value }) =>
      JSON.parse(value.toString()),
    );
  await recorder.warn(map, warning);
  const [{ metadata, ...event } = { metadata: {} }, ...others] = await list();
  assert.equal(others.length, 0);
  assert.match(metadata.name ?? "", /^a\.[0-9a-f]{16}$/);
  assert.deepEqual(
    metadata.managedFields?.map(({ manager, apiVersion }) => [manager, apiVersion]),
    [["kube-apiserver", "events.k8s.io/v1"]],
  );
  const { uid, resourceVersion } = map.metadata;
  assert.deepEqual(event, {
    kind: "Event",
    apiVersion: "v1",
    involvedObject: { kind: "ConfigMap", namespace: "ns", name: "a", uid, apiVersion: "v1", resourceVersion },
    reason: "PortNotAllocated",
    message: "Port 1 is not allocated; repairing",
    source: {},
    firstTimestamp: null,
    lastTimestamp: null,
    type: "Warning",
    eventTime: "2026-01-02T03:04:05.678000Z",
    action: "PortAllocation",
    reportingComponent: "repair",
    reportingInstance: "repair-host",
  });

  const series = async (): Promise<unknown[]> => (await list()).map((one) => one.series);
  clock.advance(60_000);
  await recorder.warn(map, warning);
  assert.deepEqual(await series(), [{ count: 2, lastObservedTime: "2026-01-02T03:05:05.678000Z" }]);
  for (let minute = 0; minute < 30; minute++) {
    clock.advance(60_000);
    await recorder.warn(map, warning);
  }
  assert.deepEqual(await series(), [{ count: 32, lastObservedTime: "2026-01-02T03:35:05.678000Z" }]);
  clock.advance(7 * 60_000);
  await recorder.warn(map, warning);
  assert.equal((await list()).length, 2);
  await cluster.close();
});

test("an Event about a cluster-scoped object is in the namespace default", async () => {
  const cluster = await openMemoryRegistry();
  await cluster.create(["/namespaces", ""], { metadata: { name: "default" } });
  const recorder = openEventRecorder({ registry: cluster.registry, logger, component: "repair", hostname: "host" });
  const metadata = { name: "fd00::1", uid: "u", resourceVersion: "1" };
  await recorder.warn({ kind: "IPAddress", apiVersion: "networking.k8s.io/v1", metadata }, warning);
  const { entries } = await cluster.registry.storage.range("/registry/events/default/");
  assert.deepEqual(
    entries.map(({ key }) => /^\/registry\/events\/default\/[0-9a-f]{32}$/.test(key)),
    [true],
  );
  await cluster.close();
});

test("no Event is stored when the state on which the problem was found has been replaced", async () => {
  const cluster = await openMemoryRegistry();
  await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
  const map = await cluster.create(maps, { metadata: { name: "a" } });
  const logged: string[] = [];
  const own = {
    registry: cluster.registry,
    logger: { ...logger, warn: (message: string) => void logged.push(message) },
  };
  const recorder = openEventRecorder({ ...own, component: "repair", hostname: "host" });
  const check = (): never => {
    throw new Error("the server was restored");
  };
  await recorder.warn(map, warning, { ...cluster.registry, decision: { isCurrent: () => false, check } });
  assert.deepEqual(logged, ["Could not record an Event"]);
  const { entries } = await cluster.registry.storage.range("/registry/events/");
  assert.deepEqual(entries, []);
  await cluster.close();
});
