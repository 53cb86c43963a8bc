/**
 * `node bench/custom-resources.ts`: the cost of CustomResourceDefinitions and their objects. Server
 * and client share a process, so the CPU time includes both.
 */
import { FieldErrors } from "../src/apimachinery/field-errors.ts";
import { objectRules } from "../src/cel-environment/object-rules.ts";
import { rawClient } from "../test/support/raw-client.ts";
import { startTestServer } from "../test/support/start-test-server.ts";

const definitionsPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const objects = 2000;
const atOnce = 32;

const rulesOf = (count: number) =>
  Array.from({ length: count }, (_, at) => ({ rule: `self.f${at} >= 0 && self.f${at} < ${at + 1000}` }));
const numbersOf = (count: number, value: object) =>
  Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, value]));

function definition(plural: string, spec: object) {
  const kind = `Kind${plural}`;
  const schema = { openAPIV3Schema: { type: "object", properties: { spec } } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.bench.example.com` },
    spec: {
      group: "bench.example.com",
      names: { plural, kind },
      scope: "Namespaced",
      versions: [{ name: "v1", served: true, storage: true, schema }],
    },
  };
}

const server = await startTestServer();
const client = rawClient(server.kubeconfig);
const post = (path: string, body: object) => client.send({ method: "POST", path, body });

async function establish(plural: string, spec: object): Promise<number> {
  const started = performance.now();
  const { status, text } = await post(definitionsPath, definition(plural, spec));
  const took = performance.now() - started;
  if (status !== 201) throw new Error(text);
  while ((await client.send({ path: `/apis/bench.example.com/v1/${plural}` })).status !== 200);
  return took;
}

/** @returns CPU milliseconds per call */
async function createMany(path: string, body: (name: string) => object, prefix: string): Promise<number> {
  let next = 0;
  const work = async () => {
    while (next < objects) {
      const { status, text } = await post(path, body(`${prefix}-${next++}`));
      if (status !== 201) throw new Error(text);
    }
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: atOnce }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000 / objects;
}

const entries = Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`key-${at}`, "x".repeat(50)]));
await establish("plains", {
  type: "object",
  properties: { data: { type: "object", additionalProperties: { type: "string" } } },
});
const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: entries });
const plain = (name: string) => ({
  apiVersion: "bench.example.com/v1",
  kind: "Kindplains",
  metadata: { name },
  spec: { data: entries },
});
const configMaps = "/api/v1/namespaces/default/configmaps";
const plains = "/apis/bench.example.com/v1/namespaces/default/plains";
const rounds: [number, number][] = [];
for (const round of ["warm", "one", "two", "three"])
  rounds.push([await createMany(configMaps, configMap, round), await createMany(plains, plain, round)]);
for (const [builtIn, custom] of rounds.slice(1)) {
  console.log(
    `create of 1 KB: ConfigMap ${builtIn.toFixed(3)} ms, custom ${custom.toFixed(3)} ms, ratio ${(custom / builtIn).toFixed(2)}`,
  );
}

/** @returns CPU microseconds per call */
async function readMany(path: string, times: number): Promise<number> {
  let next = 0;
  const work = async () => {
    while (next++ < times) if ((await client.send({ path })).status !== 200) throw new Error(path);
  };
  const before = process.cpuUsage();
  await Promise.all(Array.from({ length: atOnce }, work));
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}
const reads: [what: string, query: string, times: number][] = [
  ["get", "/one-7", 5000],
  ["list of 500", "?limit=500", 200],
];
for (const [what, query, times] of reads) {
  for (let round = 0; round < 3; round++) {
    const [builtIn, custom] = [await readMany(configMaps + query, times), await readMany(plains + query, times)];
    console.log(
      `${what}: ConfigMap ${builtIn.toFixed(0)} µs, custom ${custom.toFixed(0)} µs, ratio ${(custom / builtIn).toFixed(2)}`,
    );
  }
}

const took: number[] = [];
for (const plural of ["ruledas", "ruledbs", "ruledcs", "ruledds"]) {
  took.push(
    await establish(plural, {
      type: "object",
      properties: numbersOf(300, { type: "integer" }),
      "x-kubernetes-validations": rulesOf(300),
    }),
  );
}
console.log(`definition of 300 rules: ${took.map((time) => time.toFixed(0)).join(", ")} ms`);

const spec = {
  type: "object",
  properties: numbersOf(20, { type: "integer" }),
  "x-kubernetes-validations": rulesOf(20),
};
const check = objectRules.compile({ type: "object", properties: { spec } } as never);
const object = { spec: numbersOf(20, 5 as never) };
for (let round = 0; round < 3; round++) {
  const started = process.cpuUsage();
  for (let times = 0; times < 1000; times++) check?.(object, undefined, new FieldErrors(), () => {});
  const { user, system } = process.cpuUsage(started);
  console.log(`20 rules of an object: ${((user + system) / 1e6).toFixed(4)} ms`);
}

client.close();
await server.close();
