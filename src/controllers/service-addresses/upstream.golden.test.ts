/**
 * Repairs random clusters, and compares the IPAddresses and Events with those of upstream's
 * controller. Clusters for which upstream has several results, because its informers lag, were not
 * recorded.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { repairAllAddresses } from "./address-repair.ts";
import { addressRepair } from "./repair-addresses.ts";

interface RecordedCluster {
  readonly cidrs: readonly string[];
  readonly services: readonly { name: string; type: string; clusterIPs?: readonly string[] }[];
  readonly addresses: readonly {
    name: string;
    labels: Record<string, string>;
    resource: string;
    parent: string;
    ageSeconds: number;
  }[];
  readonly result: readonly string[];
  readonly events: readonly string[];
}

/** How long ago upstream's Services were created. */
const serviceAgeSeconds = 500;

const rows = readFileSync(join(import.meta.dirname, "testdata/upstream.jsonl"), "utf8")
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as RecordedCluster);

for (const [index, row] of rows.entries()) {
  test(`repairs cluster ${index} as upstream: ${row.events.length} Events`, async () => {
    const clock = manualClock(Date.parse("2026-01-02T03:00:00Z"));
    const cluster = await openMemoryRegistry({ clock });
    await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
    const cidr = { metadata: { name: "kubernetes" }, spec: { cidrs: row.cidrs } };
    await cluster.create(["networking.k8s.io/servicecidrs", ""], cidr);
    const start = clock.now();
    for (const { ageSeconds, run } of creations(cluster, row)) {
      clock.advance(start + (1_000 - ageSeconds) * 1_000 - clock.now());
      await run();
    }
    clock.advance(start + 1_000_000 - clock.now());

    const events = new Set<string>();
    const repair = addressRepair(cluster.registry, ({ metadata }, { reason, action, note }) =>
      events.add(`${metadata.name} ${reason} ${action} ${note}`),
    );
    for (let pass = 0; pass < 2; pass++) await repairAllAddresses(repair); // Upstream repairs all once, then each.
    assert.deepEqual([...events].sort(), row.events);
    assert.deepEqual(await resultOf(cluster), row.result);
    await cluster.close();
  });
}

interface Creation {
  readonly ageSeconds: number;
  run(): Promise<unknown>;
}

/** The oldest objects first. */
function creations(cluster: MemoryRegistry, { services, addresses }: RecordedCluster): Creation[] {
  const all: Creation[] = addresses.map(({ name, labels, resource, parent, ageSeconds }) => {
    const spec = { parentRef: { resource, namespace: "ns", name: parent } };
    return {
      ageSeconds,
      run: () => cluster.create(["networking.k8s.io/ipaddresses", ""], { metadata: { name, labels }, spec }),
    };
  });
  for (const service of services)
    all.push({ ageSeconds: serviceAgeSeconds, run: () => cluster.create(["/services", "ns"], serviceOf(service)) });
  return all.sort((a, b) => b.ageSeconds - a.ageSeconds);
}

function serviceOf({ name, type, clusterIPs = [] }: RecordedCluster["services"][number]): KubeObject {
  const metadata = { name };
  if (type === "ExternalName") return { metadata, spec: { type, externalName: "example.com" } };
  const families = { ipFamilies: [clusterIPs[0]?.includes(":") ? "IPv6" : "IPv4"], ipFamilyPolicy: "SingleStack" };
  return { metadata, spec: { type, clusterIP: clusterIPs[0], clusterIPs, ...families, ports: [{ port: 80 }] } };
}

async function resultOf({ registry }: MemoryRegistry): Promise<string[]> {
  const { entries } = await registry.storage.range("/registry/ipaddresses/");
  return entries
    .map(({ value }) => JSON.parse(value.toString()) as KubeObject)
    .map(({ metadata: { name, labels = {} }, spec: { parentRef } }) => {
      const { "ipaddress.kubernetes.io/ip-family": family, "ipaddress.kubernetes.io/managed-by": manager } = labels;
      return `${name} ${family},${manager} ${parentRef.resource}/${parentRef.name}`;
    })
    .sort();
}
