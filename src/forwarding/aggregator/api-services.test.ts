import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import { followApiServices } from "./api-services.ts";

const place: Place = ["apiregistration.k8s.io/apiservices", ""];
const logger = { info() {}, warn() {}, error() {} };

function apiService(group: string, spec: object = {}) {
  return {
    apiVersion: "apiregistration.k8s.io/v1",
    kind: "APIService",
    metadata: { name: `v1.${group}` },
    spec: { group, version: "v1", groupPriorityMinimum: 100, versionPriority: 10, ...spec },
  };
}

async function settle(): Promise<void> {
  await passTurns(50);
}

test("follows the APIServices of the store", async () => {
  const { registry, ...cluster } = await openMemoryRegistry();
  await cluster.create(place, apiService("b.example"));
  const services = followApiServices({ ...registry, logger });
  await services.tried;
  const changes: [string | undefined, string | undefined][] = [];
  const stop = services.onChange((old, next) => changes.push([old?.name, next?.name]));
  const names = (): string[] => services.list().map(({ name }) => name);
  assert.deepEqual(names(), ["v1.b.example"]);
  assert.equal(services.find("b.example", "v1")?.isAvailable, true); // It is local.
  const before = services.generation;

  const caBundle = Buffer.from("bundle").toString("base64");
  await cluster.create(place, apiService("a.example", { service: { namespace: "n", name: "s" }, caBundle }));
  await settle();
  assert.deepEqual(names(), ["v1.a.example", "v1.b.example"]);
  const [remote] = services.remotes();
  assert.ok(remote !== undefined);
  const { uid, resourceVersion, ...view } = remote;
  assert.ok(uid !== "" && resourceVersion !== "");
  assert.deepEqual(view, {
    name: "v1.a.example",
    group: "a.example",
    version: "v1",
    service: { namespace: "n", name: "s", port: 443 },
    caBundle: "bundle",
    insecureSkipTlsVerify: false,
    groupPriorityMinimum: 100,
    versionPriority: 10,
    isAvailable: false,
  });

  await cluster.change(
    place,
    "v1.a.example",
    (object) => {
      object.status = { conditions: [{ type: "Available", status: "True", reason: "Passed" }] };
    },
    "status",
  );
  await settle();
  assert.equal(services.find("a.example", "v1")?.isAvailable, true);

  await cluster.delete(place, "v1.a.example");
  await settle();
  assert.deepEqual([names(), services.remotes()], [["v1.b.example"], []]);
  assert.equal(services.generation, before + 3);
  const name = "v1.a.example";
  assert.deepEqual(changes, [
    [undefined, name],
    [name, name],
    [name, undefined],
  ]);

  stop();
  await cluster.create(place, apiService("c.example"));
  await settle();
  assert.equal(changes.length, 3);
  services.close();
  await cluster.close();
});
