/**
 * CustomResourceDefinitions are created and established, and served again after a restart; then the
 * documents of all of them, and the cost of one more.
 */
import type { BenchClient } from "../client.ts";
import { type ScaleServer, type Show, withServer } from "./contract.ts";

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const concurrency = 8;
/** Distributes the definitions among groups, because OpenAPI is built per group. */
const groups = 20;

export async function manyDefinitions(show: Show, definitions = 1000): Promise<void> {
  await withServer(async (server) => {
    const startMs = server.child.readyMs;
    const startCpuMs = (await server.child.usage()).cpuMs;
    await create(server, show, definitions);
    await readDocuments(server, show);
    await createMore(server, show, definitions);
    await server.restart();
    const since = performance.now();
    await untilServed(server.client, definitions - 1);
    const servedMs = server.child.readyMs + performance.now() - since;
    show("restarted, and the last is served", `${servedMs.toFixed(0)} ms`, "1500 ms");
    show("  CPU", `${(await server.child.usage()).cpuMs.toFixed(0)} ms`);
    show("  a start without any", `${startMs.toFixed(0)} ms, ${startCpuMs.toFixed(0)} ms of CPU`);
    await readDocuments(server, show);
  });
}

async function create({ client, cpuMsOf }: ScaleServer, show: Show, definitions: number): Promise<void> {
  const since = performance.now();
  const seconds = (): string => ((performance.now() - since) / 1000).toFixed(1);
  const established = client.follow(`${definitionsPath}?watch=1`, (piece) => seen.add(piece));
  const seen = new EstablishedNames(definitions);
  const cpuMs = await cpuMsOf(async () => {
    const post = (index: number) => ({
      method: "POST",
      path: definitionsPath,
      body: JSON.stringify(definition(index)),
    });
    await client.run(definitions, concurrency, post, 201);
    show(`${definitions} created`, `${seconds()} s`);
    await seen.all;
    for (let index = 0; index < definitions; index++) await untilServed(client, index);
  });
  established.close();
  show("  established and served", `${seconds()} s`, "5 s");
  show("  CPU", `${(cpuMs / 1000).toFixed(1)} s`);
}

/** Reads events, and resolves when that many objects have the condition Established. */
class EstablishedNames {
  readonly #expected: number;
  readonly #names = new Set<string>();
  readonly #done = Promise.withResolvers<void>();
  #rest = "";

  constructor(expected: number) {
    this.#expected = expected;
  }

  get all(): Promise<void> {
    return this.#done.promise;
  }

  add(piece: Buffer): void {
    const lines = (this.#rest + piece.toString("latin1")).split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) {
      const { metadata, status } = JSON.parse(line).object;
      const conditions: readonly { type: string; status: string }[] = status?.conditions ?? [];
      if (conditions.some((one) => one.type === "Established" && one.status === "True")) this.#names.add(metadata.name);
    }
    if (this.#names.size === this.#expected) this.#done.resolve();
  }
}

async function readDocuments({ client, cpuMsOf }: ScaleServer, show: Show): Promise<void> {
  const aggregated = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const documents: readonly [what: string, path: string, accept?: string][] = [
    ["aggregated discovery", "/apis", aggregated],
    ["discovery of a group", `/apis/${groupOf(0)}/v1`],
    ["index of OpenAPI v3", "/openapi/v3"],
    ["OpenAPI v3 of a group", `/openapi/v3/apis/${groupOf(0)}/v1`],
  ];
  for (const [what, path, accept] of documents) {
    const first = await cpuMsOf(() => client.read(path, { accept }));
    const again = await cpuMsOf(() => client.read(path, { accept }));
    show(`  ${what}`, `${first.toFixed(1)} ms of CPU, then ${again.toFixed(1)} ms`);
  }
}

async function createMore({ client, cpuMsOf }: ScaleServer, show: Show, definitions: number): Promise<void> {
  for (let index = definitions; index < definitions + 3; index++) {
    const cpuMs = await cpuMsOf(async () => {
      await client.send({ method: "POST", path: definitionsPath, body: JSON.stringify(definition(index)) });
      await untilServed(client, index);
    });
    const document = await cpuMsOf(() => client.read("/openapi/v3"));
    show("  one more", `${cpuMs.toFixed(1)} ms of CPU, the index of OpenAPI after it ${document.toFixed(1)} ms`);
  }
}

async function untilServed(client: BenchClient, index: number): Promise<void> {
  const path = `/apis/${groupOf(index)}/v1/${pluralOf(index)}`;
  while ((await client.send({ method: "GET", path })).status !== 200);
}

const groupOf = (index: number): string => `g${index % groups}.bench.example.com`;
const pluralOf = (index: number): string => `many${index}s`;

function definition(index: number): object {
  const properties = Object.fromEntries(
    Array.from({ length: 20 }, (_, field) => [`f${field}`, { type: "string", description: "What it is for." }]),
  );
  const schema = { openAPIV3Schema: { type: "object", properties: { spec: { type: "object", properties } } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${pluralOf(index)}.${groupOf(index)}` },
    spec: {
      group: groupOf(index),
      names: { plural: pluralOf(index), kind: `Many${index}` },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}
