/**
 * `node bench/many-definitions.ts`: a server on LMDB with 1000 CustomResourceDefinitions, or
 * `DEFINITIONS=n`. The server runs in a separate process, and is restarted with all definitions.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type RawClient, rawClient } from "../test/support/raw-client.ts";
import { type Child, startChild } from "./child.ts";

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const many = Number(process.env.DEFINITIONS ?? 1000);
const atOnce = 8;
/** Distributes the definitions among groups, because OpenAPI is built per group. */
const groups = 20;

const groupOf = (at: number) => `g${at % groups}.bench.example.com`;

function definition(at: number) {
  const plural = `many${at}s`;
  const properties = Object.fromEntries(
    Array.from({ length: 20 }, (_, field) => [`f${field}`, { type: "string", description: "What it is for." }]),
  );
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${groupOf(at)}` },
    spec: {
      group: groupOf(at),
      names: { plural, kind: `Many${at}` },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

async function define(client: RawClient, at: number): Promise<void> {
  const { status, text } = await client.send({ method: "POST", path: definitionsPath, body: definition(at) });
  if (status !== 201) throw new Error(text);
}

async function served(client: RawClient, at: number): Promise<void> {
  while ((await client.send({ path: `/apis/${groupOf(at)}/v1/many${at}s` })).status !== 200);
}

async function timed(what: string, ask: () => Promise<unknown>): Promise<void> {
  const times: string[] = [];
  for (let round = 0; round < 3; round++) {
    const started = performance.now();
    await ask();
    times.push((performance.now() - started).toFixed(1));
  }
  console.log(`${what}: ${times.join(", ")} ms`);
}

const aggregated = { accept: "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList" };

async function ask(client: RawClient): Promise<void> {
  await timed("aggregated discovery", () => client.send({ path: "/apis", headers: aggregated }));
  await timed("discovery of a group", () => client.send({ path: `/apis/${groupOf(0)}/v1` }));
  await timed("index of OpenAPI v3", () => client.send({ path: "/openapi/v3" }));
  await timed("OpenAPI v3 of a group", () => client.send({ path: `/openapi/v3/apis/${groupOf(0)}/v1` }));
}

async function printMemory(child: Child, what: string): Promise<void> {
  const { rssMiB, heldMs } = await child.usage();
  console.log(`${what}: RSS ${rssMiB.toFixed(0)} MiB, event loop held for ${heldMs.toFixed(0)} ms at most`);
}

const directory = mkdtempSync(join(tmpdir(), "coxswain-bench-"));
const script = new URL("server-coxswain.ts", import.meta.url);
let child = await startChild(script, [directory]);
console.log(`start with none: ${child.readyMs.toFixed(0)} ms`);
let client = rawClient(child.ready.kubeconfig as string);
const started = performance.now();
let made = 0;
const work = async () => {
  while (made < many) await define(client, made++);
};
await Promise.all(Array.from({ length: atOnce }, work));
await served(client, many - 1);
console.log(`${many} definitions in ${(performance.now() - started).toFixed(0)} ms`);
await printMemory(child, "then");
await ask(client);
for (let at = many; at < many + 3; at++) {
  const before = performance.now();
  await define(client, at);
  await served(client, at);
  const after = performance.now();
  await client.send({ path: "/openapi/v3" });
  console.log(
    `one more: ${(after - before).toFixed(1)} ms, the index of OpenAPI after it ${(performance.now() - after).toFixed(1)} ms`,
  );
}
client.close();
await child.stop();

child = await startChild(script, [directory]);
client = rawClient(child.ready.kubeconfig as string);
console.log(`start with ${many}: ${child.readyMs.toFixed(0)} ms`);
const before = performance.now();
await served(client, many - 1);
console.log(`the last is served ${(performance.now() - before).toFixed(0)} ms later`);
await printMemory(child, "then");
await ask(client);
await printMemory(child, "at the end");
client.close();
await child.stop();
rmSync(directory, { recursive: true, force: true });
