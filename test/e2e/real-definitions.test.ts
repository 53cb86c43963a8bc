/**
 * Sends the CustomResourceDefinitions of real projects, and their sample objects with damaged and
 * random ones, to this server and to upstream's, and compares the answers. Needs
 * COXSWAIN_TEST_FULL=1, and Go with access to the modules. `COXSWAIN_PROJECTS=istio,kueue` selects
 * projects, `SEED=n` replays a run.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { encodeAny } from "../../src/lib/json/encode-any.ts";
import { skipWithout } from "../support/needs.ts";
import { type Answer, type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { quietControllers, startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";
import { startUpstreamDefinitions, type UpstreamServer, upstreamMissing } from "../support/upstream-definitions.ts";
import { fetchModule, type Manifest, type Project, projects, readManifests } from "./real-definitions/projects.ts";
import { damaged, randomSample } from "./real-definitions/samples.ts";
import { type Twins, twins } from "./real-definitions/twins.ts";

const chosen = process.env.COXSWAIN_PROJECTS?.split(",");
const missing = (chosen === undefined && skipWithout("full")) || skipWithout("go") || upstreamMissing();
const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/** Sample objects per version; each is also damaged in several ways. */
const shippedMax = 100;
const randomSamples = 6;
/** Stored objects per version; each is also changed in several ways. */
const storedMax = 8;
const damages = 4;

let server: TestServer | undefined;
let upstream: UpstreamServer | undefined;
let clients: readonly RawClient[] = [];
let both: Twins;
before(async () => {
  if (missing !== undefined) return;
  // Samples refer to owners that do not exist.
  server = await startTestServer({ controllers: [...quietControllers, "-garbage-collector-controller"] });
  upstream = await startUpstreamDefinitions();
  const [ours, theirs] = [rawClient(server.kubeconfig), rawClient(upstream.kubeconfig)];
  clients = [ours, theirs];
  both = twins(ours, theirs);
});
after(async () => {
  for (const client of clients) client.close();
  await upstream?.close();
  await server?.close();
});

for (const project of projects.filter(({ name }) => chosen?.includes(name) ?? true)) {
  test(`answers like upstream's server for the definitions of ${project.name}`, { skip: missing }, async (t) => {
    const fetched = fetchModule(project);
    if ("missing" in fetched) return t.skip(`${project.module} cannot be fetched: ${fetched.missing}`);
    await check(project, fetched.directory);
  });
}

async function check(project: Project, directory: string): Promise<void> {
  const accepted = await define(
    readManifests(directory, project.definitions).filter(({ kind }) => kind === "CustomResourceDefinition"),
  );
  assert.notEqual(accepted.length, 0);
  await eventuallySame(accepted.map(({ metadata }) => `${definitionsPath}/${metadata.name}`));
  const groupVersions = new Set(
    accepted.flatMap(({ spec }) => servedVersions(spec).map(({ name }) => `/apis/${spec.group}/${name}`)),
  );
  await eventuallySame([...groupVersions, ...[...groupVersions].map((path) => `/openapi/v3${path}`), "/openapi/v2"]);
  const random = seededRandom(seed);
  const shipped = readManifests(directory, project.samples);
  for (const { spec } of accepted) {
    for (const version of servedVersions(spec)) await checkObjects(spec, version, shipped, random);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: definitions as their projects wrote them.
type Spec = any;

const servedVersions = (spec: Spec): Spec[] => spec.versions.filter(({ served }: Spec) => served);

/** @returns the definitions that both servers accept */
async function define(definitions: readonly Manifest[]): Promise<Manifest[]> {
  const accepted = new Map<string | undefined, Manifest>();
  for (const body of definitions) {
    const { answer, differences } = await both.send({ method: "POST", path: definitionsPath, body });
    assert.deepEqual(differences.slice(0, 5), [], body.metadata.name as string);
    if (answer.status === 201) accepted.set(body.metadata.name, body);
  }
  return [...accepted.values()];
}

/** Waits for the controllers of both servers. */
async function eventuallySame(paths: readonly string[]): Promise<void> {
  for (const path of paths) {
    await eventually(`${path} answers as upstream`, async () => {
      const { answer, differences } = await both.send({ path });
      assert.deepEqual([answer.status, differences.slice(0, 5)], [200, []]);
    });
  }
}

async function checkObjects(
  spec: Spec,
  version: Spec,
  shipped: readonly Manifest[],
  random: (below: number) => number,
): Promise<void> {
  const apiVersion = `${spec.group}/${version.name}`;
  const { kind, plural } = spec.names;
  const path = `/apis/${apiVersion}/${spec.scope === "Namespaced" ? "namespaces/default/" : ""}${plural}`;
  const good = shipped
    .filter((manifest) => manifest.apiVersion === apiVersion && manifest.kind === kind)
    .slice(0, shippedMax);
  const schema = version.schema?.openAPIV3Schema ?? {};
  const generated = Array.from({ length: randomSamples }, () => ({
    apiVersion,
    kind,
    metadata: { name: "generated" },
    ...randomSample(schema, random),
  }));
  const whole: Manifest[] = [...good.map(withName), ...generated];
  const bodies = [...whole, ...whole.flatMap((body) => Array.from({ length: damages }, () => damaged(body, random)))];
  const storable: Manifest[] = [];
  for (const body of bodies) {
    const strict = random(4) === 0 ? "&fieldValidation=Strict" : "";
    const answer = await same({ method: "POST", path: `${path}?dryRun=All&fieldManager=test${strict}`, body });
    if (answer.status === 201) storable.push(body);
  }
  for (const body of storable.slice(0, storedMax)) await checkStored(path, body, version, storable, random);
}

const jsonPatch = { "content-type": "application/json-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };
const table = { accept: "application/json;as=Table;g=meta.k8s.io;v=v1" };

/**
 * Creates an object, patches and applies parts of the other objects, lists it as a Table, writes
 * its status and scale, and deletes it.
 */
async function checkStored(
  path: string,
  body: Manifest,
  version: Spec,
  others: readonly Manifest[],
  random: (below: number) => number,
): Promise<void> {
  const at = `${path}/${body.metadata.name}`;
  const created = await same({ method: "POST", path: `${path}?fieldManager=creator`, body });
  if (created.status !== 201) return;
  await same({ path: `${path}?includeObject=None`, headers: table });
  for (let change = 0; change < damages; change++) {
    const other = damaged(others[random(others.length)] as Manifest, random);
    const patch = Object.keys(other)
      .filter((field) => !["apiVersion", "kind", "metadata"].includes(field))
      .map((field) => ({ op: "add", path: `/${field}`, value: other[field] }));
    await same({ method: "PATCH", path: `${at}?dryRun=All&fieldManager=patcher`, headers: jsonPatch, body: patch });
    const intent = { ...other, metadata: { name: body.metadata.name } };
    await same({
      method: "PATCH",
      path: `${at}?dryRun=All&fieldManager=applier&force=${random(2) === 0}`,
      headers: apply,
      body: intent,
    });
    if (version.subresources?.status === undefined) continue;
    await same({
      method: "PATCH",
      path: `${at}/status?dryRun=All&fieldManager=reporter`,
      headers: jsonPatch,
      body: patch,
    });
  }
  if (version.subresources?.scale !== undefined) {
    await same({ path: `${at}/scale` });
    await same({
      method: "PATCH",
      path: `${at}/scale?dryRun=All&fieldManager=scaler`,
      headers: mergePatch,
      body: { spec: { replicas: random(5) } },
    });
  }
  await same({ method: "DELETE", path: at });
}

const mergePatch = { "content-type": "application/merge-patch+json" };

async function same(request: RawRequest): Promise<Answer> {
  const body = encodeAny(request.body); // Manifests have numbers as they are written.
  const { answer, differences } = await both.send(request.body === undefined ? request : { ...request, body });
  assert.deepEqual(differences.slice(0, 5), [], `SEED=${seed} ${request.method ?? "GET"} ${request.path} ${body}`);
  return answer;
}

/** Removes the namespace and generateName, and sets a name if there is none. */
function withName(manifest: Manifest): Manifest {
  const {
    namespace: _namespace,
    generateName: _prefix,
    name = "shipped",
    ...metadata
  } = manifest.metadata as Record<string, string>;
  return { ...manifest, metadata: { ...metadata, name } } as Manifest;
}
