/**
 * `--runtime-config`: whichever group versions and resources are disabled, the server starts and
 * becomes ready, serves the others, and stores no object of a kind that is not served, neither at
 * the start nor by a controller. The seed chooses random sets, and one in twenty of the single switches;
 * COXSWAIN_TEST_FULL=1 tries all. `SEED=n` replays a run.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { systemClock } from "../../src/apimachinery/clock.ts";
import { binaryMinor } from "../../src/apimachinery/effective-version.ts";
import { parseFeatureGates } from "../../src/apimachinery/feature-gates.ts";
import { builtinVersions } from "../../src/catalog/builtin-definitions.ts";
import { emulatedResources } from "../../src/catalog/emulated-resources.ts";
import { withoutGatedResources } from "../../src/catalog/gated-resources.ts";
import { readResourcesTable } from "../../src/catalog/resources-table.ts";
import { parseRuntimeConfig } from "../../src/catalog/runtime-config.ts";
import { startServer } from "../../src/index.ts";
import { openLmdbStorage } from "../../src/storage/lmdb/lmdb.ts";
import { valueBytesMaxDefault } from "../../src/storage/options.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { eventually } from "../support/until.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-runtime-config-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const builtin = builtinVersions();
const groupVersions = [...new Set(builtin.map(({ group, version }) => `${group === "" ? "api" : group}/${version}`))];

const random = seededRandom(seed);
const full = process.env.COXSWAIN_TEST_FULL === "1";

/** @returns all with COXSWAIN_TEST_FULL=1, otherwise about one in twenty, which the seed chooses */
function sample<One>(all: readonly One[]): readonly One[] {
  return full ? all : all.filter(() => random(20) === 0);
}

const noForwarding = { emulationForwardCompatible: false, runtimeConfigEmulationForwardCompatible: false };

type Serves = (group: string, version: string, resource: string) => boolean;

async function checkStart(runtimeConfig: string): Promise<void> {
  const dataDir = mkdtempSync(join(directory, "data-"));
  const problems: string[] = [];
  const problem = (message: string, values?: object): void =>
    void problems.push(`${message} ${JSON.stringify(values)}`);
  const { gates } = parseFeatureGates("");
  const enabled = withoutGatedResources(parseRuntimeConfig(runtimeConfig, builtin), builtin, gates);
  const { serves, warnings } = emulatedResources(enabled, builtin, { ...noForwarding, emulated: binaryMinor });
  const server = await startServer({
    dataDir,
    storage: "lmdb",
    runtimeConfig,
    controllers: ["*"],
    logger: { info() {}, warn: problem, error: problem },
  });
  const client = rawClient(server.kubeconfig);
  try {
    for (const path of ["/readyz", "/livez", "/api", "/apis", "/openapi/v3", "/openapi/v2"]) {
      const { status, text } = await client.send({ path });
      assert.equal(status, 200, `${path}: ${text}`);
    }
    await checkServed(client, serves);
    await exercise(client, serves);
    assert.deepEqual(
      problems.filter((line) => !warnings.some((warning) => line.startsWith(warning))),
      [],
    );
  } finally {
    client.close();
    await server.close();
  }
  await checkStored(dataDir, serves);
}

/** Discovery lists the served resources, which can all be listed; the others answer 404. */
async function checkServed(client: RawClient, serves: Serves): Promise<void> {
  for (const groupVersion of groupVersions) {
    const [group, version] = groupVersion === "api/v1" ? ["", "v1"] : (groupVersion.split("/") as [string, string]);
    const resources = builtin.filter((one) => one.group === group && one.version === version);
    const served = resources.filter(({ resource }) => serves(group, version, resource)).map(({ resource }) => resource);
    const path = group === "" ? "/api/v1" : `/apis/${groupVersion}`;
    const { status, body } = await client.send({ path });
    assert.equal(status, served.length > 0 ? 200 : 404, path);
    const found = served.length === 0 ? [] : body.resources;
    assert.deepEqual(
      found
        .map(({ name }: { name: string }) => name)
        .filter((name: string) => !name.includes("/"))
        .sort(),
      served.sort(),
      path,
    );
    for (const { name } of found)
      if (stored.has(`${group}/${name}`))
        assert.equal((await client.send({ path: `${path}/${name}` })).status, 200, name);
    for (const { resource } of resources)
      if (!served.includes(resource)) assert.equal((await client.send({ path: `${path}/${resource}` })).status, 404);
  }
}

/** Addresses of Services need these objects, also when clients are not served them. */
const ofAddresses: ReadonlySet<string> = new Set(["/registry/servicecidrs/", "/registry/ipaddresses/"]);

/** The kinds of the stored objects. */
const stored = new Set(
  readResourcesTable().resources.flatMap(({ group, resource, storage }) =>
    storage === undefined ? [] : [`${group}/${resource}`],
  ),
);

const configMaps = "/api/v1/namespaces/work/configmaps";

/** The effects of controllers and admission on the served kinds. */
async function exercise(client: RawClient, serves: Serves): Promise<void> {
  const has = (resource: string, group = ""): boolean => serves(group, "v1", resource);
  const send = async (method: string, path: string, body?: object): Promise<number> =>
    (await client.send({ method, path, ...(body && { body }) })).status;
  const create = async (path: string, body: object): Promise<string> => {
    const { status, text, body: created } = await client.send({ method: "POST", path, body });
    assert.equal(status, 201, text);
    return created.metadata.uid;
  };
  if (!has("namespaces")) return;
  for (const name of ["default", "kube-system", "kube-public", "kube-node-lease"])
    assert.equal(await send("GET", `/api/v1/namespaces/${name}`), 200);
  if (has("clusterroles", "rbac.authorization.k8s.io"))
    assert.equal(await send("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/cluster-admin"), 200);
  if (has("services")) assert.equal(await send("GET", "/api/v1/namespaces/default/services/kubernetes"), 200);
  await create("/api/v1/namespaces", { metadata: { name: "work" } });
  if (has("services"))
    await create("/api/v1/namespaces/work/services", { metadata: { name: "s" }, spec: { ports: [{ port: 1 }] } });
  if (has("deployments", "apps")) {
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    await create("/apis/apps/v1/namespaces/work/deployments", {
      metadata: { name: "d" },
      spec: { selector: { matchLabels: { a: "b" } }, template },
    });
  }
  if (has("serviceaccounts")) {
    await eventually(
      "the ServiceAccount default exists",
      async () => (await send("GET", "/api/v1/namespaces/work/serviceaccounts/default")) === 200,
    );
    const token = await client.send({
      method: "POST",
      path: "/api/v1/namespaces/work/serviceaccounts/default/token",
      body: { spec: {} },
    });
    assert.equal(token.status, serves("authentication.k8s.io", "v1", "tokenreviews") ? 201 : token.status, token.text);
    assert.ok(token.status < 500, token.text);
  }
  if (has("pods")) {
    const pod = { metadata: { name: "p" }, spec: { containers: [{ name: "c", image: "i" }] } };
    const status = await send("POST", "/api/v1/namespaces/work/pods", pod);
    assert.equal(status, has("serviceaccounts") ? 201 : 403); // A pod needs its account.
    assert.ok((await send("POST", "/api/v1/namespaces/work/pods/p/eviction", { metadata: { name: "p" } })) < 500);
  }
  if (has("bindings")) {
    const target = { kind: "Node", name: "n" };
    assert.ok((await send("POST", "/api/v1/namespaces/work/bindings", { metadata: { name: "p" }, target })) < 500);
  }
  if (has("configmaps")) {
    const uid = await create(configMaps, { metadata: { name: "owner" } });
    await create(configMaps, {
      metadata: { name: "owned", ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }] },
    });
    assert.equal(await send("DELETE", `${configMaps}/owner`), 200);
    await eventually("the dependent is deleted", async () => (await send("GET", `${configMaps}/owned`)) === 404);
  }
  if (has("customresourcedefinitions", "apiextensions.k8s.io")) await exerciseDefinition(client, create);
  assert.equal(await send("DELETE", "/api/v1/namespaces/work"), 200);
  await eventually("the namespace is deleted", async () => (await send("GET", "/api/v1/namespaces/work")) === 404);
}

async function exerciseDefinition(
  client: RawClient,
  create: (path: string, body: object) => Promise<string>,
): Promise<void> {
  const schema = { openAPIV3Schema: { type: "object" } };
  await create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", {
    metadata: { name: "things.example.com" },
    spec: {
      group: "example.com",
      scope: "Namespaced",
      names: { plural: "things", kind: "Thing" },
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  });
  const things = "/apis/example.com/v1/namespaces/work/things";
  await eventually("the definition is served", async () => (await client.send({ path: things })).status === 200);
  await create(things, { apiVersion: "example.com/v1", kind: "Thing", metadata: { name: "t" } });
}

/** At least one of the kinds that share a storage prefix must be served. */
async function checkStored(dataDir: string, serves: Serves): Promise<void> {
  const prefixes = new Map<string, boolean>();
  for (const { group, resource, versions, storage } of readResourcesTable().resources) {
    if (storage === undefined) continue;
    const isServed = versions.some(({ version }) => serves(group, version, resource));
    prefixes.set(storage.prefix, prefixes.get(storage.prefix) === true || isServed);
  }
  const options = {
    clock: systemClock,
    historyMs: 300_000,
    historyBytesMax: 1 << 30,
    valueBytesMax: valueBytesMaxDefault,
    durability: "relaxed",
  } as const;
  const storage = await openLmdbStorage({ ...options, dir: join(dataDir, "storage") });
  try {
    for (const [prefix, isServed] of prefixes) {
      if (!isServed && !ofAddresses.has(prefix)) assert.equal(await storage.count(prefix), 0, prefix);
    }
  } finally {
    await storage.close();
  }
}

describe(`starts and serves the rest with one group version disabled, seed ${seed}`, () => {
  for (const groupVersion of sample(groupVersions))
    test(`${groupVersion}=false`, () => checkStart(`${groupVersion}=false`));
});

/** The other named sets run with COXSWAIN_TEST_FULL=1: they combine these. */
const alwaysNamed = 5;
const named: readonly string[] = [
  "api/all=false,v1=true",
  "api/all=true",
  "api/beta=false",
  "api/ga=false",
  "api/all=false,rbac.authorization.k8s.io/v1=true",
  "api/all=false,api/v1",
  "api/all=false,apps/v1=true",
  "api/all=false,v1=true,apps/v1=true,rbac.authorization.k8s.io/v1=true",
  "api/all=false,v1=true,apiextensions.k8s.io/v1=true",
  "api/ga=false,v1",
  "api/alpha=false",
  "api/all=true,v1=false",
];
describe("starts and serves the rest with stages disabled", () => {
  for (const runtimeConfig of full ? named : named.slice(0, alwaysNamed))
    test(runtimeConfig, () => checkStart(runtimeConfig));
});

const writtenGroups = ["", "rbac.authorization.k8s.io", "scheduling.k8s.io", "networking.k8s.io", "discovery.k8s.io"];
const resources = builtin.filter(({ group, version }) => writtenGroups.includes(group) && version === "v1");
describe(`starts and serves the rest with one resource disabled that the start or a controller writes, seed ${seed}`, () => {
  for (const { group, version, resource } of sample(resources)) {
    const key = `${group === "" ? "api" : group}/${version}/${resource}=false`;
    test(key, () => checkStart(key));
  }
});

test("keeps objects of disabled groups in the store, and does not serve or use them", async () => {
  const dataDir = mkdtempSync(join(directory, "restarts-"));
  const runServer = async (runtimeConfig: string, run: (client: RawClient) => Promise<void>): Promise<void> => {
    const server = await startServer({ dataDir, storage: "lmdb", runtimeConfig, tokenAuthFile });
    const client = rawClient(server.kubeconfig);
    await run(client).finally(() => client.close());
    await server.close();
  };
  const tokenAuthFile = join(directory, "tokens.csv");
  writeFileSync(tokenAuthFile, "token,ann,1\n");
  const asAnn = { headers: { authorization: "Bearer token" }, anonymous: true };
  const bindings = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
  const things = "/apis/example.com/v1/namespaces/work/things";
  const statuses = async (client: RawClient): Promise<number[]> => [
    (await client.send({ path: "/api/v1/namespaces/work/configmaps", ...asAnn })).status,
    (await client.send({ path: `${bindings}/ann` })).status,
    (await client.send({ path: `${things}/t` })).status,
  ];
  await runServer("", async (client) => {
    const create = async (path: string, body: object): Promise<string> => {
      const { status, text, body: created } = await client.send({ method: "POST", path, body });
      assert.equal(status, 201, text);
      return created.metadata.uid;
    };
    const apiGroup = "rbac.authorization.k8s.io";
    const subjects = [{ kind: "User", name: "ann", apiGroup }];
    await create(bindings, {
      metadata: { name: "ann" },
      roleRef: { kind: "ClusterRole", name: "view", apiGroup },
      subjects,
    });
    await create("/api/v1/namespaces", { metadata: { name: "work" } });
    await exerciseDefinition(client, create);
    await eventually("the binding takes effect", async () => (await statuses(client))[0] === 200);
    assert.deepEqual(await statuses(client), [200, 200, 200]);
  });
  await runServer("api/all=false,v1=true", async (client) => assert.deepEqual(await statuses(client), [403, 404, 404]));
  await runServer("", async (client) => assert.deepEqual(await statuses(client), [200, 200, 200]));
});

describe(`starts and serves the rest with a random set disabled, seed ${seed}`, () => {
  for (let turn = 0; turn < (full ? 10 : 2); turn++) {
    const versions = groupVersions.filter(() => random(2) === 0).map((one) => `${one}=${random(2) === 0}`);
    const single = builtin
      .filter(() => random(12) === 0)
      .map(({ group, version, resource }) => `${group === "" ? "api" : group}/${version}/${resource}=false`);
    const runtimeConfig = [
      ...(random(2) === 0 ? ["api/all=false"] : []),
      ...versions,
      ...single,
      "api/v1/namespaces=true",
    ].join(",");
    test(runtimeConfig, () => checkStart(runtimeConfig));
  }
});
