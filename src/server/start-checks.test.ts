import assert from "node:assert/strict";
import { test } from "node:test";
import type { HealthCheck } from "../http/endpoints/health.ts";
import { startChecks } from "./start-checks.ts";
import type { StartStep } from "./state.ts";

const autoregistered: HealthCheck = { name: "autoregister-completion", check: () => undefined };
const reached = new Set<StartStep>();
const checks = (more: object = {}) =>
  startChecks({
    state: { reached },
    flowControl: ["max-in-flight-filter"],
    hasDefinitions: true,
    peers: "forwarded",
    hasIdentity: true,
    waitsForCaches: true,
    coordinatesElections: true,
    reloadsEncryption: true,
    reloadsProxyCertificate: true,
    reportsStorageVersions: true,
    autoregistered,
    ...more,
  });
const failing = (): string[] => checks().flatMap(({ name, check }) => (check() === undefined ? [] : [name]));

test("a check fails until its step of the start is complete", () => {
  assert.ok(failing().includes("poststarthook/rbac/bootstrap-roles"));
  reached.add("objects");
  assert.ok(!failing().includes("poststarthook/rbac/bootstrap-roles"));
  assert.ok(failing().includes("poststarthook/crd-informer-synced"));
  reached.add("definitions");
  assert.ok(!failing().includes("poststarthook/crd-informer-synced"));
  assert.ok(failing().includes("poststarthook/apiservice-discovery-controller"));
  reached.add("controllers");
  assert.ok(failing().includes("poststarthook/start-kube-apiserver-identity-lease-controller"));
  reached.add("identity");
  assert.deepEqual(failing(), [
    "poststarthook/storage-readiness",
    "poststarthook/built-in-resources-storage-version-updater",
  ]);
  reached.add("storageVersions");
  assert.deepEqual(failing(), ["poststarthook/storage-readiness"]);
  reached.add("caches");
  assert.deepEqual(failing(), []);
});

test("parts that a server does not have are not checked", () => {
  const names = checks({
    hasDefinitions: false,
    peers: "none",
    hasIdentity: false,
    waitsForCaches: false,
    coordinatesElections: false,
    reportsStorageVersions: false,
    reloadsEncryption: false,
    reloadsProxyCertificate: false,
  }).map(({ name }) => name);
  assert.deepEqual(
    names.filter((name) =>
      /crd|apiextensions|reload|identity|election|peer|version|local-disc|storage-readiness/.test(name),
    ),
    [],
  );
  assert.equal(checks().length - names.length, 14);
});
