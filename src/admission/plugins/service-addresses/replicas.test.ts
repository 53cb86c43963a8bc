/**
 * Several servers over one store allocate to Services at random. Guarantees:
 *
 * - No two Services have the same address or node port.
 * - Each address of a Service has an IPAddress that refers to it, as soon as the Service is stored.
 * - The ports in use are those of the Services.
 * - What no Service has any more can be allocated again: nothing leaks.
 *
 * They hold also when watch caches lag behind the store, and, after a last repair, while servers repair. A store that ignores checks
 * breaks them.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../../test/support/manual-clock.ts";
import {
  type MemoryRegistry,
  memoryOptions,
  openMemoryRegistry,
  type Place,
} from "../../../../test/support/memory-registry.ts";
import { passTurns } from "../../../../test/support/pass-turns.ts";
import { seed } from "../../../../test/support/seed.ts";
import { seededRandom } from "../../../../test/support/seeded-random.ts";
import { systemClock } from "../../../apimachinery/clock.ts";
import { ApiError } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import { repairAllAddresses } from "../../../controllers/service-addresses/address-repair.ts";
import { addressRepair } from "../../../controllers/service-addresses/repair-addresses.ts";
import { repairNodePorts } from "../../../controllers/service-addresses/repair-ports.ts";
import { readNodePorts } from "../../../registry/node-port-range.ts";
import type { LogSubscriber, Storage } from "../../../storage/contract.ts";
import { openMemoryStorage } from "../../../storage/memory.ts";
import { valuesOf } from "./release-values.ts";

const services: Place = ["/services", "ns"];
const addresses = "networking.k8s.io/ipaddresses";
const ports = { first: 100, last: 139 };
const ranges = "10.0.0.0/27,fd00::/112";

type Random = (below: number) => number;

/** The specs that operations use: several kinds of values, some requested so that requests collide. */
function randomSpec(random: Random): Record<string, unknown> {
  const port = { port: 80, ...(random(3) === 0 && { nodePort: 100 + random(40) }) };
  const address = random(3) === 0 ? { clusterIP: `10.0.0.${1 + random(30)}` } : {};
  const twice = random(4) === 0 ? { ipFamilyPolicy: "RequireDualStack" } : {};
  switch (random(4)) {
    case 0:
      return {
        type: "NodePort",
        ports: [port, { port: 81, name: "b" }].map((one, at) => ({ name: `p${at}`, ...one })),
      };
    case 1:
      return { type: "LoadBalancer", externalTrafficPolicy: "Local", ports: [port] };
    case 2:
      return { type: "ExternalName", externalName: "example.com" };
    default:
      return { ...address, ...twice, ports: [{ port: 80 }] };
  }
}

/** Changes the type of a Service, which takes and releases values. */
function randomChange(random: Random): (object: KubeObject) => void {
  const choice = random(4);
  return ({ spec }) => {
    if (choice === 0) Object.assign(spec, { type: "ClusterIP", ports: [{ port: 80 }] });
    else if (choice === 1) Object.assign(spec, { type: "NodePort", ports: [{ port: 80 }] });
    else if (choice === 2) {
      Object.assign(spec, { type: "ExternalName", externalName: "example.com", clusterIP: "", ports: [] });
      delete spec.clusterIPs;
    } else
      Object.assign(spec, {
        ipFamilyPolicy: spec.ipFamilyPolicy === "SingleStack" ? "RequireDualStack" : "SingleStack",
      });
  };
}

async function unlessRejected(write: Promise<unknown>): Promise<boolean> {
  try {
    await write;
    return true;
  } catch (error) {
    if (error instanceof Error && / does not exist$/.test(error.message)) return false;
    if (!(error instanceof ApiError)) throw error;
    assert.ok(error.status.code !== 500 || /range is full|duplicate nodePort/.test(error.message), error.message);
    return false;
  }
}

function randomWrite(replica: MemoryRegistry, random: Random): Promise<boolean> {
  const name = `s${random(25)}`;
  switch (random(4)) {
    case 0:
      return unlessRejected(replica.delete(services, name));
    case 1:
      return unlessRejected(replica.change(services, name, randomChange(random)));
    default:
      return unlessRejected(replica.create(services, { metadata: { name }, spec: randomSpec(random) }));
  }
}

async function listAll(storage: Storage, prefix: string): Promise<KubeObject[]> {
  return (await storage.range(prefix)).entries.map(({ value }) => JSON.parse(value.toString()) as KubeObject);
}

/** @throws AssertionError when a guarantee does not hold */
async function checkGuarantees(storage: Storage): Promise<void> {
  const stored = await listAll(storage, "/registry/services/specs/");
  const held = stored.map(({ metadata, spec }) => ({ name: metadata.name, ...valuesOf(spec) }));
  const all = held.flatMap((one) => one.addresses.map((address) => `${address} services/ns/${one.name}`));
  const owned = (await listAll(storage, "/registry/ipaddresses/")).map(({ metadata, spec: { parentRef } }) => {
    return `${metadata.name} ${parentRef.resource}/${parentRef.namespace}/${parentRef.name}`;
  });
  assert.deepEqual(owned.sort(), all.sort());
  const used = held.flatMap((one) => [...new Set(one.ports)]).sort((a, b) => a - b);
  assert.deepEqual([...((await readNodePorts({ storage }))?.ports ?? [])], used);
}

/** Delivers the log to subscribers later, as a remote store does. */
function lagging(storage: Storage, random: Random): Storage {
  const log: Storage["log"] = (prefix, from, subscriber) => {
    let last = Promise.resolve();
    const later = (run: () => void): void => {
      const turns = random(4);
      last = last.then(async () => {
        await passTurns(turns);
        run();
      });
    };
    const delayed: LogSubscriber = {
      events: (batch) => later(() => subscriber.events(batch)),
      progress: (revision) => later(() => subscriber.progress(revision)),
      end: (error) => later(() => subscriber.end(error)),
    };
    return storage.log(prefix, from, delayed);
  };
  return wrap(storage, { log });
}

/** Does not check that IPAddresses are absent. */
function unchecked(storage: Storage): Storage {
  return wrap(storage, {
    commit: (checks, writes) =>
      storage.commit(
        checks.filter(({ key }) => !key.startsWith("/registry/ipaddresses/")),
        writes,
      ),
  });
}

function wrap(storage: Storage, methods: Partial<Storage>): Storage {
  return new Proxy(storage, {
    get(target, name) {
      const own = methods[name as keyof Storage];
      const value = own ?? (target[name as keyof Storage] as unknown);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

/** Creates and deletes IPAddresses while Services change; no problem that it reports may remain. */
async function repair({ registry }: MemoryRegistry): Promise<void> {
  await repairAllAddresses(addressRepair(registry, () => {}));
  await repairNodePorts({ registry, range: ports, leaks: new Map(), report: () => {} });
}

/** @throws AssertionError when two Services have a value in common */
async function checkDistinct(storage: Storage): Promise<void> {
  const held = (await listAll(storage, "/registry/services/specs/")).map(({ spec }) => valuesOf(spec));
  for (const kind of ["addresses", "ports"] as const) {
    const all = held.flatMap((one): readonly (string | number)[] => [...new Set<string | number>(one[kind])]);
    assert.equal(new Set(all).size, all.length, `two Services have one of ${all.sort().join()}`);
  }
}

interface Run {
  /** Whether servers repair during the writes. */
  readonly repairs?: boolean;
  readonly replicas: number;
  readonly rounds: number;
  readonly storeOf: (storage: Storage, random: Random) => Storage;
}

async function run({ replicas, rounds, storeOf, repairs = false }: Run): Promise<void> {
  const random = seededRandom(seed);
  const clock = manualClock(Date.parse("2026-01-02T03:00:00Z"));
  const storage = await openMemoryStorage(memoryOptions(clock));
  const open = (): Promise<MemoryRegistry> =>
    openMemoryRegistry({ clock, storage: storeOf(storage, random), services: { ranges, ports } });
  const servers: MemoryRegistry[] = [];
  for (let at = 0; at < replicas; at++) servers.push(await open());
  await servers[0]?.create(["/namespaces", ""], { metadata: { name: "ns" } });
  let stored = 0;
  try {
    for (let round = 0; round < rounds; round++) {
      const writes = Array.from({ length: 8 }, () => randomWrite(servers[random(replicas)] as MemoryRegistry, random));
      const repairing = repairs ? servers.map(repair) : [];
      stored += (await Promise.all(writes)).filter(Boolean).length;
      await Promise.all(repairing);
      clock.advance(repairs ? random(100_000) : 0);
      await (repairs ? checkDistinct(storage) : checkGuarantees(storage));
    }
    assert.ok(stored > rounds, `only ${stored} writes were stored`);
    if (repairs) {
      clock.advance(100_000);
      for (let pass = 0; pass < 4; pass++) await repair(servers[0] as MemoryRegistry);
      await checkGuarantees(storage);
    }
    for (let at = 0; at < 25; at++) await unlessRejected((servers[0] as MemoryRegistry).delete(services, `s${at}`));
    await checkGuarantees(storage);
    assert.deepEqual(await listAll(storage, "/registry/ipaddresses/"), []);
  } finally {
    for (const server of servers) await server.close();
    await storage.close();
  }
}

test(`three servers allocate at random, seed ${seed}`, () =>
  run({ replicas: 3, rounds: 60, storeOf: (storage) => storage }));

test(`three servers allocate at random while their caches lag, seed ${seed}`, () =>
  run({ replicas: 3, rounds: 40, storeOf: lagging }));

test(`three servers allocate and repair at random, seed ${seed}`, () =>
  run({ replicas: 3, rounds: 60, repairs: true, storeOf: (storage) => storage }));

test(`three servers allocate and repair at random while their caches lag, seed ${seed}`, () =>
  run({ replicas: 3, rounds: 40, repairs: true, storeOf: lagging }));

test(`a store that does not check IPAddresses breaks a guarantee, seed ${seed}`, () =>
  assert.rejects(run({ replicas: 3, rounds: 1000, storeOf: unchecked }), assert.AssertionError));

test("a server that lost a race for a requested address reports that it is allocated", async () => {
  const storage = await openMemoryStorage(memoryOptions(systemClock));
  const servers = await Promise.all(
    [1, 2].map(() => openMemoryRegistry({ storage, services: { ranges: "10.0.0.0/24" } })),
  );
  await servers[0]?.create(["/namespaces", ""], { metadata: { name: "ns" } });
  const request = { clusterIP: "10.0.0.7", type: "NodePort", ports: [{ port: 80 }] };
  const results = await Promise.allSettled(
    servers.map((server, at) => server.create(services, { metadata: { name: `s${at}` }, spec: request })),
  );
  const [lost, ...others] = results.filter(({ status }) => status === "rejected") as PromiseRejectedResult[];
  assert.equal(others.length, 0);
  assert.match(lost?.reason.message, /failed to allocate IP 10.0.0.7: provided IP is already allocated/);
  assert.equal(
    await servers[0]?.find([addresses, ""], "10.0.0.7").then((found) => found?.spec.parentRef.namespace),
    "ns",
  );
  await checkGuarantees(storage);
  for (const server of servers) await server.close();
  await storage.close();
});
