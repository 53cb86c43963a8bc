import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type MemoryRegistry, openMemoryRegistry, type Place } from "../../../../test/support/memory-registry.ts";
import { badRequest } from "../../../apimachinery/errors.ts";
import type { KubeObject } from "../../../apimachinery/object.ts";
import type { AdmissionPlugin } from "../../contract.ts";

const services: Place = ["/services", "ns"];
let cluster: MemoryRegistry;

/**
 * Of 10.0.0.0/27, the addresses 1 to 16 are reserved for services that request one. The others get
 * 17 to 30 first.
 */
before(async () => {
  cluster = await openMemoryRegistry({ services: { ranges: "10.0.0.0/27" } });
  await cluster.create(["/namespaces", ""], { metadata: { name: "ns" } });
});
after(() => cluster.close());

const create = (name: string, spec: Record<string, unknown> = {}, dryRun = false): Promise<KubeObject> =>
  cluster.create(services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } }, dryRun);

test("concurrent creations get distinct addresses, and a deletion frees the address", async () => {
  const made = await Promise.all(Array.from({ length: 14 }, (_none, index) => create(`s${index}`)));
  const given = made.map(({ spec }) => spec.clusterIP);
  assert.equal(new Set(given).size, 14);
  assert.deepEqual(made[0]?.spec.clusterIPs, [given[0]]);
  assert.deepEqual([made[0]?.spec.ipFamilies, made[0]?.spec.ipFamilyPolicy], [["IPv4"], "SingleStack"]);
  const kept = await Promise.all(Array.from({ length: 16 }, (_none, index) => create(`kept${index}`)));
  assert.equal(new Set([...given, ...kept.map(({ spec }) => spec.clusterIP)]).size, 30);
  await assert.rejects(
    create("more"),
    /Internal error occurred: failed to allocate a serviceIP for Service "more": range is full/,
  );
  for (const { metadata } of kept) await cluster.delete(services, metadata.name as string);
  for (const { metadata } of made) await cluster.delete(services, metadata.name as string);
  assert.ok(given.includes((await create("more")).spec.clusterIP));
  await cluster.delete(services, "more");
});

test("a service can request a free address of the range", async () => {
  assert.equal((await create("mine", { clusterIP: "10.0.0.5" })).spec.clusterIP, "10.0.0.5");
  await assert.rejects(
    create("yours", { clusterIP: "10.0.0.5" }),
    /\["10.0.0.5"\]: failed to allocate IP 10.0.0.5: provided IP is already allocated/,
  );
  await assert.rejects(
    create("yours", { clusterIP: "10.1.0.5" }),
    /the provided network does not match the current range/,
  );
  await assert.rejects(
    create("yours", { clusterIP: "ten" }),
    /spec.clusterIPs\[0\]: Invalid value: "ten": must be a valid IP address/,
  );
});

test("a headless service has no address and can have both families", async () => {
  const { spec } = await create("headless", { clusterIP: "None", selector: { a: "b" } });
  assert.deepEqual([spec.clusterIP, spec.clusterIPs, spec.ipFamilies], ["None", ["None"], ["IPv4"]]);
  const free = await create("free", { clusterIP: "None" });
  assert.deepEqual([free.spec.ipFamilies, free.spec.ipFamilyPolicy], [["IPv4", "IPv6"], "RequireDualStack"]);
});

test("a dry run reserves nothing", async () => {
  assert.equal((await create("dry", { clusterIP: "10.0.0.6" }, true)).spec.clusterIP, "10.0.0.6");
  assert.equal((await create("wet", { clusterIP: "10.0.0.6" })).spec.clusterIP, "10.0.0.6");
});

test("a write that fails releases its reservations", async () => {
  await assert.rejects(create("wet", { clusterIP: "10.0.0.7" }), /already exists/);
  await assert.rejects(create("Invalid", { clusterIP: "10.0.0.7" }), /is invalid/);
  const failing = cluster.change(services, "headless", ({ metadata, spec }) => {
    metadata.uid = "another";
    Object.assign(spec, { type: "NodePort", clusterIP: "10.0.0.7", clusterIPs: ["10.0.0.7"] });
  });
  await assert.rejects(failing, /is invalid|cannot be fulfilled/);
  assert.equal((await create("late", { clusterIP: "10.0.0.7" })).spec.clusterIP, "10.0.0.7");
});

test("node ports are assigned, kept by an update without them, and removed with the type", async () => {
  const { spec } = await create("ports", { type: "NodePort" });
  const [{ nodePort }] = spec.ports;
  assert.ok(nodePort >= 30000 && nodePort <= 32767);
  await cluster.change(services, "ports", (object) => {
    delete object.spec.ports[0].nodePort;
    object.spec.selector = { a: "b" };
  });
  assert.equal((await cluster.find(services, "ports"))?.spec.ports[0].nodePort, nodePort);
  await assert.rejects(
    create("taken", { type: "NodePort", ports: [{ port: 80, nodePort }] }),
    /spec.ports\[0\].nodePort: Invalid value: \d+: provided port is already allocated/,
  );
  await assert.rejects(
    create("wide", { type: "NodePort", ports: [{ port: 80, nodePort: 99 }] }),
    /The range of valid ports is 30000-32767/,
  );
  await cluster.change(services, "ports", (object) => {
    object.spec.type = "ClusterIP";
  });
  assert.equal((await cluster.find(services, "ports"))?.spec.ports[0].nodePort, undefined);
  assert.equal(
    (await create("taken", { type: "NodePort", ports: [{ port: 80, nodePort }] })).spec.ports[0].nodePort,
    nodePort,
  );
});

test("the same port of two protocols shares one node port", async () => {
  const ports = [
    { name: "t", port: 53, protocol: "TCP" },
    { name: "u", port: 53, protocol: "UDP" },
  ];
  const { spec } = await create("dns", { type: "NodePort", ports });
  assert.equal(spec.ports[0].nodePort, spec.ports[1].nodePort);
});

test("low node ports are assigned only when no other is free", async () => {
  const small = await openMemoryRegistry({ services: { ranges: "10.0.0.0/24", ports: { first: 100, last: 117 } } });
  await small.create(["/namespaces", ""], { metadata: { name: "ns" } });
  const given: number[] = [];
  for (let index = 0; index < 3; index++) {
    const { spec } = await small.create(services, {
      metadata: { name: `s${index}` },
      spec: { type: "NodePort", ports: [{ port: 80 }] },
    });
    given.push(spec.ports[0].nodePort);
  }
  assert.deepEqual(given.slice(0, 2).sort(), [116, 117]);
  assert.ok((given[2] as number) < 116);
  await small.close();
});

const ready = (status: string): Record<string, unknown> => ({
  conditions: [{ type: "Ready", status, lastTransitionTime: "2024-01-02T03:04:05Z", reason: "", message: "" }],
});

test("ServiceCIDRs add ranges unless they are not ready", async () => {
  const small = await openMemoryRegistry({ services: { ranges: "10.0.0.0/30" } });
  await small.create(["/namespaces", ""], { metadata: { name: "ns" } });
  const made = async (name: string, spec: Record<string, unknown> = {}): Promise<string> =>
    (await small.create(services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })).spec.clusterIP;
  const places: Place = ["networking.k8s.io/servicecidrs", ""];
  const setReady = (status: string): Promise<void> =>
    small.change(places, "more", (object) => Object.assign(object, { status: ready(status) }), "status");
  assert.deepEqual(new Set([await made("a"), await made("b")]), new Set(["10.0.0.1", "10.0.0.2"]));
  await assert.rejects(made("c"), /range is full/);
  await small.create(places, { metadata: { name: "more" }, spec: { cidrs: ["10.0.1.0/30"] } });
  await setReady("False");
  await assert.rejects(made("c"), /range is full/);
  await assert.rejects(made("c", { clusterIP: "10.0.1.2" }), /the provided network does not match the current range/);
  await setReady("True");
  assert.equal(await made("c", { clusterIP: "10.0.1.2" }), "10.0.1.2");
  await assert.rejects(made("d", { clusterIP: "10.0.1.2" }), /provided IP is already allocated/);
  assert.equal(await made("d"), "10.0.1.1");
  await assert.rejects(made("e"), /range is full/);
  await small.create(places, { metadata: { name: "without-status" }, spec: { cidrs: ["10.0.2.0/30"] } });
  assert.match(await made("e"), /^10\.0\.2\./);
  await small.close();
});

test("the admission of IPAddresses can reject a service, which then keeps nothing", async () => {
  let isRejecting = true;
  const rejecting: AdmissionPlugin = {
    name: "RejectsAddresses",
    validate({ operation, target, user }) {
      if (!isRejecting || target.resource.definition.resource !== "ipaddresses") return;
      assert.deepEqual([operation, user.name], ["CREATE", "system:apiserver"]);
      throw badRequest("not this address");
    },
  };
  const small = await openMemoryRegistry({ services: { ranges: "10.0.0.0/30" }, plugins: () => [rejecting] });
  await small.create(["/namespaces", ""], { metadata: { name: "ns" } });
  const made = (name: string, spec: Record<string, unknown> = {}): Promise<KubeObject> =>
    small.create(services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } });
  for (let at = 0; at < 4; at++)
    await assert.rejects(made("a"), /spec.clusterIPs: .*: failed to allocate IP: not this address/);
  await assert.rejects(made("a", { clusterIP: "10.0.0.1" }), /: failed to allocate IP 10.0.0.1: not this address/);
  assert.equal(await small.find(["networking.k8s.io/ipaddresses", ""], "10.0.0.1"), undefined);
  isRejecting = false;
  await Promise.all([made("a"), made("b")]);
  await small.close();
});

test("a deletion releases nothing of a state that was restored after it", async () => {
  const restored = { isCurrent: () => false, check: () => assert.fail("the state was replaced") };
  const { registry, find } = cluster;
  const service = await create("restored", { type: "NodePort" });
  const { resource } = registry.catalog.findServed("", "v1", "services") ?? assert.fail();
  const ofDeletion = { ...registry, decision: restored };
  await assert.rejects(async () => registry.admission.removed(resource, () => service, ofDeletion), /was replaced/);
  assert.notEqual(await find(["networking.k8s.io/ipaddresses", ""], service.spec.clusterIP), undefined);
  await cluster.delete(services, "restored");
});

test("an IPAddress that cannot be read is in use, and does not prevent others", async () => {
  const small = await openMemoryRegistry({ services: { ranges: "10.0.0.0/29" } });
  await small.create(["/namespaces", ""], { metadata: { name: "ns" } });
  const key = "/registry/ipaddresses/10.0.0.5";
  const made = async (name: string, spec: Record<string, unknown> = {}): Promise<string> =>
    (await small.create(services, { metadata: { name }, spec: { ports: [{ port: 80 }], ...spec } })).spec.clusterIP;
  const first = await made("a", { clusterIP: "10.0.0.2" });
  await small.registry.storage.commit([], [{ key, value: Buffer.from("damaged") }]);
  await assert.rejects(made("b", { clusterIP: "10.0.0.5" }), /10.0.0.5: provided IP is already allocated/);
  await assert.rejects(made("b", { clusterIP: first }), /10.0.0.2: provided IP is already allocated/);
  const others = [await made("b"), await made("c"), await made("d"), await made("e")];
  assert.deepEqual(others.sort(), ["10.0.0.1", "10.0.0.3", "10.0.0.4", "10.0.0.6"]);
  await assert.rejects(made("f"), /range is full/);
  await small.registry.storage.commit([], [{ key, value: null }]);
  assert.equal(await made("f"), "10.0.0.5");
  await small.close();
});

test("an IPAddress names its Service, also when the name is generated", async () => {
  const { metadata, spec } = await cluster.create(services, {
    metadata: { generateName: "generated-" },
    spec: { clusterIP: "10.0.0.12", ports: [{ port: 80 }] },
  });
  const address = await cluster.find(["networking.k8s.io/ipaddresses", ""], spec.clusterIP);
  assert.deepEqual(address?.spec, { parentRef: { resource: "services", namespace: "ns", name: metadata.name } });
  assert.deepEqual(address?.metadata.labels, {
    "ipaddress.kubernetes.io/ip-family": "IPv4",
    "ipaddress.kubernetes.io/managed-by": "ipallocator.k8s.io",
  });
  assert.equal(address?.metadata.resourceVersion, metadata.resourceVersion);
  await cluster.delete(services, metadata.name as string);
  assert.equal(await cluster.find(["networking.k8s.io/ipaddresses", ""], spec.clusterIP), undefined);
});

test("a deletion of a service deletes its Endpoints, also after a finalizer delayed it", async () => {
  const endpoints: Place = ["/endpoints", "ns"];
  for (const name of ["gone", "held"]) {
    await create(name, { clusterIP: "None" });
    await cluster.create(endpoints, { metadata: { name } });
  }
  await cluster.delete(services, "gone");
  await cluster.change(services, "held", ({ metadata }) => {
    metadata.finalizers = ["example.com/a"];
  });
  await cluster.delete(services, "held");
  assert.deepEqual(
    [await cluster.find(endpoints, "gone"), (await cluster.find(endpoints, "held"))?.metadata.name],
    [undefined, "held"],
  );
  await cluster.change(services, "held", ({ metadata }) => {
    delete metadata.finalizers;
  });
  assert.equal(await cluster.find(endpoints, "held"), undefined);
});

test("without the gate StrictIPCIDRValidation, leading zeros in addresses are accepted and ignored", async () => {
  const loose = await openMemoryRegistry({
    featureGates: "StrictIPCIDRValidation=false",
    services: { ranges: "10.0.0.0/24", strict: false },
  });
  await loose.create(["/namespaces", ""], { metadata: { name: "ns" } });
  const made = (name: string, clusterIP: string): Promise<KubeObject> =>
    loose.create(services, {
      metadata: { name },
      spec: { clusterIP, externalIPs: ["010.1.1.1"], ports: [{ port: 80 }] },
    });
  assert.equal((await made("a", "010.0.0.07")).spec.clusterIP, "010.0.0.07");
  await assert.rejects(made("b", "10.0.0.7"), /provided IP is already allocated/);
  await loose.close();
});
