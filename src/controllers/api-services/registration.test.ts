/**
 * The rows about single APIServices are those of `TestSync` and its table in
 * k8s.io/kube-aggregator@v0.36.0/pkg/controllers/autoregister/autoregister_controller_test.go.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { followApiServices } from "../../forwarding/aggregator/api-services.ts";
import { apiServiceRegistration } from "./registration.ts";

const place: Place = ["apiregistration.k8s.io/apiservices", ""];
const logger = { info() {}, warn() {}, error() {} };
const label = "kube-aggregator.kubernetes.io/automanaged";

async function settle(): Promise<void> {
  await passTurns(300);
}

type Cluster = Awaited<ReturnType<typeof openMemoryRegistry>>;

/** A server with the store of the cluster; the caller closes it. */
async function start(cluster: Cluster) {
  const services = followApiServices({ ...cluster.registry, logger });
  await services.tried;
  const controller = apiServiceRegistration({ registry: cluster.registry, logger, services });
  return {
    controller,
    services,
    async run() {
      controller.start();
      await controller.tried;
      await settle();
    },
    async close() {
      await controller.stop();
      services.close();
    },
  };
}

function apiService(group: string, managed: string | undefined, spec: object = {}) {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1.${group}`, ...(managed !== undefined && { labels: { [label]: managed } }) },
    spec: { group, version: "v1", groupPriorityMinimum: 7, versionPriority: 7, ...spec },
  };
}

/** What happens to an APIService: `-` for nothing. */
type Outcome = "-" | "created" | "reverted" | "deleted";
type Managed = "onstart" | "true" | "other" | undefined;

/** By the label of the existing object, the desired kind, and when the object was created. */
const rows: [
  current: Managed | "missing",
  desired: "none" | "builtin" | "definition",
  atStart: Outcome,
  later: Outcome,
][] = [
  ["missing", "none", "-", "-"],
  ["missing", "builtin", "created", "-"],
  ["missing", "definition", "created", "created"],
  [undefined, "none", "-", "-"],
  [undefined, "builtin", "-", "-"],
  [undefined, "definition", "-", "-"],
  ["other", "none", "-", "-"],
  ["other", "definition", "-", "-"],
  ["onstart", "none", "deleted", "-"],
  ["onstart", "builtin", "reverted", "-"],
  ["onstart", "definition", "reverted", "-"],
  ["true", "none", "deleted", "deleted"],
  ["true", "builtin", "reverted", "-"],
  ["true", "definition", "reverted", "reverted"],
];

for (const [current, desired, atStart, later] of rows) {
  const group = desired === "builtin" ? "apps" : "custom.example";
  const name = `v1.${group}`;
  const define = ({ controller }: Awaited<ReturnType<typeof start>>): void => {
    if (desired === "definition") controller.definitions.set("things.custom.example", group, ["v1"]);
  };
  const put = async (cluster: Cluster): Promise<void> => {
    if (current !== "missing") await cluster.create(place, apiService(group, current));
  };
  const outcomeOf = async (cluster: Cluster): Promise<Outcome> => {
    const found = await cluster.find(place, name);
    if (found === undefined) return current === "missing" ? "-" : "deleted";
    if (current === "missing") return "created";
    return found.spec.groupPriorityMinimum === 7 ? "-" : "reverted";
  };

  test(`label ${current}, desired ${desired}: at the start ${atStart}`, async () => {
    const cluster = await openMemoryRegistry();
    await put(cluster);
    const server = await start(cluster);
    define(server);
    await server.run();
    assert.equal(await outcomeOf(cluster), atStart);
    await server.close();
    await cluster.close();
  });

  test(`label ${current}, desired ${desired}: later ${later}`, async () => {
    const cluster = await openMemoryRegistry();
    const server = await start(cluster);
    define(server);
    await server.run();
    if (desired !== "none") await cluster.delete(place, name);
    await put(cluster);
    await settle();
    assert.equal(await outcomeOf(cluster), later);
    await server.close();
    await cluster.close();
  });
}

test("follows the versions of definitions", async () => {
  const cluster = await openMemoryRegistry();
  const server = await start(cluster);
  await server.run();
  const { definitions } = server.controller;
  const custom = async (): Promise<string[]> => {
    await settle();
    return server.services
      .list()
      .filter(({ group }) => group === "a.example")
      .map(({ name }) => name);
  };
  definitions.set("x.a.example", "a.example", ["v1", "v2"]);
  definitions.set("y.a.example", "a.example", ["v1"]);
  assert.deepEqual(await custom(), ["v1.a.example", "v2.a.example"]);
  const { spec, metadata } = (await cluster.find(place, "v1.a.example")) as KubeObject;
  assert.deepEqual(spec, { group: "a.example", version: "v1", groupPriorityMinimum: 1000, versionPriority: 100 });
  assert.deepEqual(metadata.labels, { [label]: "true" });
  definitions.set("x.a.example", "a.example", ["v3"]);
  assert.deepEqual(await custom(), ["v1.a.example", "v3.a.example"]);
  definitions.remove("y.a.example");
  assert.deepEqual(await custom(), ["v3.a.example"]);
  definitions.remove("x.a.example");
  definitions.remove("x.a.example");
  assert.deepEqual(await custom(), []);
  await server.close();
  await cluster.close();
});
