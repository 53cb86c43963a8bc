import assert from "node:assert/strict";
import { test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../../test/support/memory-registry.ts";
import { passTurns } from "../../../test/support/pass-turns.ts";
import { until } from "../../../test/support/until.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { legacyTokenCleaner } from "./cleaner.ts";
import { dayMs, parseDay } from "./dates.ts";
import { openSecretUses } from "./last-used.ts";
import { legacyTokenTracking, trackingName } from "./tracking.ts";

const startMs = Date.UTC(2026, 0, 1, 12);
const secrets: Place = ["/secrets", "default"];
const configMaps: Place = ["/configmaps", "kube-system"];
const logger = { info() {}, warn() {}, error() {} };
const lastUsed = "kubernetes.io/legacy-token-last-used";
const invalidSince = "kubernetes.io/legacy-token-invalid-since";

async function withRegistry(run: (memory: MemoryRegistry, clock: ManualClock) => Promise<void>): Promise<void> {
  const clock = manualClock(startMs);
  const memory = await openMemoryRegistry({ clock });
  try {
    for (const name of ["kube-system", "default"])
      await memory.create(["/namespaces", ""], { apiVersion: "v1", kind: "Namespace", metadata: { name } });
    await run(memory, clock);
  } finally {
    await memory.close();
  }
}

const secret = (name: string, labels: Record<string, string> = {}): KubeObject => ({
  apiVersion: "v1",
  kind: "Secret",
  metadata: { name, labels, annotations: { "kubernetes.io/service-account.name": "robot" } },
  type: "kubernetes.io/service-account-token",
});

test("parses valid dates only", () => {
  for (const text of ["2026-01-31", "2024-02-29"]) assert.equal(parseDay(text), Date.parse(text));
  for (const text of ["", "2026-02-29", "2026-1-1", "2026-01-01T00:00:00Z", "x", undefined])
    assert.equal(parseDay(text), undefined);
});

test("publishes the start of tracking, and restores it when it is changed or deleted", () =>
  withRegistry(async (memory) => {
    const tracking = legacyTokenTracking({ registry: memory.registry, logger });
    const since = async (): Promise<string | undefined> => (await memory.find(configMaps, trackingName))?.data?.since;
    tracking.start();
    await until(async () => (await since()) === "2026-01-01");
    await memory.change(configMaps, trackingName, (object) => {
      object.data = { since: "2025-06-01", more: "x" };
    });
    await memory.change(configMaps, trackingName, (object) => {
      object.data.since = "yesterday";
    });
    await until(async () => (await since()) === "2026-01-01");
    assert.equal((await memory.find(configMaps, trackingName))?.data.more, "x");
    await memory.delete(configMaps, trackingName);
    await until(async () => (await since()) === "2026-01-01");
    assert.equal(await memory.find(["/configmaps", "default"], trackingName), undefined);
    await tracking.stop();
  }));

test("writes the day of the last use once a day", () =>
  withRegistry(async (memory, clock) => {
    await memory.create(secrets, secret("t"));
    const uses = openSecretUses({ registry: memory.registry, logger });
    const found = async (): Promise<KubeObject> => (await memory.find(secrets, "t")) as KubeObject;
    uses.used("default", "absent");
    uses.used("default", "t");
    await until(async () => (await found()).metadata.labels?.[lastUsed] === "2026-01-01");
    const { resourceVersion } = (await found()).metadata;
    uses.used("default", "t");
    await passTurns(20);
    assert.equal((await found()).metadata.resourceVersion, resourceVersion);
    clock.advance(dayMs);
    uses.used("default", "t");
    await until(async () => (await found()).metadata.labels?.[lastUsed] === "2026-01-02");
    await uses.stop();
  }));

interface CleanRow {
  readonly what: string;
  readonly since?: string;
  readonly labels?: Record<string, string>;
  readonly account?: object;
  readonly pod?: object;
  /** Days after the creation of the Secret. */
  readonly after?: number;
  readonly want: "kept" | "marked" | "deleted";
}
const own = { secrets: [{ name: "t" }] };
const cleanRows: CleanRow[] = [
  { what: "unused for a year", want: "marked" },
  { what: "last used long ago", labels: { [lastUsed]: "2026-01-05" }, want: "marked" },
  { what: "used since", labels: { [lastUsed]: "2026-06-01" }, want: "kept" },
  { what: "with an invalid last use", labels: { [lastUsed]: "never" }, want: "kept" },
  { what: "younger", after: 364, want: "kept" },
  { what: "not tracked long enough", since: "2026-06-01", want: "kept" },
  { what: "with an invalid start of tracking", since: "x", want: "kept" },
  { what: "created manually", account: {}, want: "kept" },
  { what: "mounted by a pod", pod: { volumes: [{ name: "v", secret: { secretName: "t" } }] }, want: "kept" },
  { what: "marked long ago", labels: { [invalidSince]: "2026-01-02" }, want: "deleted" },
  { what: "marked not long ago", labels: { [invalidSince]: "2026-12-01" }, want: "kept" },
  { what: "marked with an invalid date", labels: { [invalidSince]: "x" }, want: "marked" },
];
for (const { what, since = "2025-12-01", labels = {}, account = own, pod, after = 370, want } of cleanRows) {
  test(`a legacy token, ${what}, is ${want}`, () =>
    withRegistry(async (memory, clock) => {
      await memory.create(configMaps, {
        apiVersion: "v1",
        kind: "ConfigMap",
        metadata: { name: trackingName },
        data: { since },
      });
      await memory.create(["/serviceaccounts", "default"], {
        apiVersion: "v1",
        kind: "ServiceAccount",
        metadata: { name: "robot" },
        ...account,
      });
      await memory.create(secrets, secret("t", labels));
      if (pod !== undefined) {
        const spec = { containers: [{ name: "c", image: "i" }], ...pod };
        await memory.create(["/pods", "default"], { apiVersion: "v1", kind: "Pod", metadata: { name: "p" }, spec });
      }
      clock.advance(after * dayMs);
      const cleaner = legacyTokenCleaner({ registry: memory.registry, logger, unusedMs: 365 * dayMs });
      cleaner.start();
      await passTurns(50);
      await cleaner.stop();
      const found = await memory.find(secrets, "t");
      const today = new Date(clock.now()).toISOString().slice(0, 10);
      const now = found === undefined ? "deleted" : found.metadata.labels?.[invalidSince] === today ? "marked" : "kept";
      assert.equal(now, want);
    }));
}
