/**
 * The package as users install it: packed, installed in another directory, run as a command, and
 * embedded. Needs COXSWAIN_TEST_FULL=1.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { rawClient } from "../support/raw-client.ts";

const root = join(import.meta.dirname, "..", "..");
const skip =
  process.env.COXSWAIN_TEST_FULL === "1" ? false : "needs COXSWAIN_TEST_FULL=1: builds and installs the package";

const directory = mkdtempSync(join(tmpdir(), "coxswain-package-"));
const program = join(directory, "node_modules/coxswain/dist/main.js");

before(() => {
  if (skip !== false) return;
  execFileSync("npm", ["pack", "--pack-destination", directory], { cwd: root, stdio: "ignore" });
  const archive = readdirSync(directory).find((name) => name.endsWith(".tgz")) as string;
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "user", type: "module" }));
  execFileSync("npm", ["install", "--no-audit", "--no-fund", join(directory, archive)], {
    cwd: directory,
    stdio: "ignore",
  });
});
after(() => rmSync(directory, { recursive: true, force: true }));

const run = (...args: string[]): string => execFileSync(process.execPath, args, { cwd: directory, encoding: "utf8" });

test("the installed command serves and backs up its store", { skip }, async () => {
  const data = join(directory, "data");
  const command = spawn(process.execPath, [program, "--data-dir", data, "--secure-port=0"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = new Promise<number | null>((resolve) => command.once("exit", resolve));
  await new Promise<void>((resolve) => command.stdout.once("data", () => resolve()));
  const client = rawClient(readFileSync(join(data, "kubeconfig"), "utf8"));
  assert.equal((await client.send({ path: "/api/v1/namespaces/default" })).status, 200);
  assert.match((await client.send({ path: "/openapi/v3/api/v1" })).text, /Pod is a collection of containers/);
  const backup = join(directory, "backup");
  assert.match(run(program, "store", "backup", data, backup), /: \d+ objects at revision \d+\n$/);
  const downloaded = await client.send({ method: "POST", path: "/storage/backup" });
  assert.equal(downloaded.status, 200);
  writeFileSync(`${backup}-downloaded`, downloaded.bytes);
  for (const file of [backup, `${backup}-downloaded`]) run(program, "store", "check", file);
  client.close();
  command.kill("SIGTERM");
  assert.equal(await exited, 0);
  run(program, "store", "check", data);
});

test("the installed command evaluates CEL expressions", { skip }, () => {
  const evaluated = run(program, "cel", "eval", "--expr", "1 + 1", "--json");
  assert.equal(evaluated, '{"value":2,"type":"int","cost":{"actual":1,"estimated":{"min":1,"max":1}}}\n');
});

test("the installed library starts a server", { skip }, () => {
  const script =
    'import { startServer } from "coxswain"; const server = await startServer(); console.log(server.url); await server.close();';
  assert.match(run("--input-type=module", "-e", script), /^https:\/\/127\.0\.0\.1:\d+\n$/);
});

test("the installed structured-merge library applies an intent", { skip }, () => {
  const merging = `
    import { applyIntent, emptySet, encodeFieldsV1, type Struct, type MergeContext } from "coxswain/structured-merge";
    const field = { name: "a", type: { kind: "string" }, pointer: true, omitEmpty: true, omitZero: false, required: false } as const;
    const base = { kind: "struct", definition: "Kind", goType: "Kind", atomic: false, preserveUnknown: false } as const;
    const schema: Struct = { ...base, fields: [field], byName: new Map([["a", field]]) };
    const context: MergeContext = { schemaOf: () => schema, convert: (object) => object, ignored: () => emptySet };
    const live = { object: {}, version: "v1" };
    const { object, managers } = applyIntent(context, live, { object: { a: "x" }, version: "v1" }, new Map(), "me", { force: false });
    console.log(JSON.stringify([object, encodeFieldsV1(managers.get("me")!.set)]));`;
  writeFileSync(join(directory, "merging.ts"), merging);
  assert.equal(run("merging.ts"), '[{"a":"x"},{"f:a":{}}]\n');
  checkTypes("merging.ts");
});

test("the installed CEL library evaluates expressions", { skip }, () => {
  const expression = `
    import { CelError, dynType, jsonValue, kubernetesEnvironment, type Program } from "coxswain/cel";
    const environment = kubernetesEnvironment([1, 36]).extend({ variables: [{ name: "self", type: dynType }] });
    const program: Program = environment.plan(environment.compile("self.replicas <= self.maxReplicas"));
    const self = jsonValue({ replicas: 2, maxReplicas: 3 });
    console.log(program.evaluate(new Map([["self", self]]), { costLimit: 1_000_000 }));
    try { program.evaluate(new Map([["self", jsonValue({})]])); } catch (error) { console.log((error as CelError).message); }`;
  writeFileSync(join(directory, "expression.ts"), expression);
  assert.equal(run("expression.ts"), "{ value: true, cost: 5 }\nno such key: replicas\n");
  checkTypes("expression.ts");
});

/** Compiles a file that imports the package, in strict mode and without the types of Node.js. */
function checkTypes(file: string): void {
  const compiler = join(root, "node_modules/.bin/tsc");
  const options = [
    "--noEmit",
    "--strict",
    "--skipLibCheck",
    "--module",
    "nodenext",
    "--types",
    "",
    "--lib",
    "esnext,dom",
  ];
  execFileSync(compiler, [...options, file], { cwd: directory, stdio: "inherit" });
}
