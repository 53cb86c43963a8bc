/**
 * The package as users install it: packed, installed in other directories by each package manager,
 * compiled against, run as a command, and embedded. Needs COXSWAIN_TEST_FULL=1.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { docstringExamples } from "../support/docstring-examples.ts";
import { skipWithout } from "../support/needs.ts";
import { rawClient } from "../support/raw-client.ts";

const root = join(import.meta.dirname, "..", "..");
const skip = skipWithout("full");

const directory = mkdtempSync(join(tmpdir(), "coxswain-package-"));
const program = join(directory, "node_modules/coxswain/dist/main.js");
let archive: string;

before(() => {
  if (skip !== false) return;
  execFileSync("npm", ["pack", "--pack-destination", directory], { cwd: root, stdio: "ignore" });
  archive = join(directory, readdirSync(directory).find((name) => name.endsWith(".tgz")) as string);
  writeFileSync(join(directory, "package.json"), JSON.stringify({ name: "user", type: "module" }));
  execFileSync("npm", ["install", "--no-audit", "--no-fund", archive], {
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
  truncateSync(join(data, "storage", "data.mdb"), 3 * 4096);
  const damaged = spawnSync(process.execPath, [program, "--data-dir", data, "--secure-port=0"], { encoding: "utf8" });
  assert.match(damaged.stderr, /^Error: .*data\.mdb is damaged: /);
  assert.equal(damaged.status, 3);
});

test("the installed command evaluates CEL expressions", { skip }, () => {
  const evaluated = run(program, "cel", "eval", "--expr", "1 + 1", "--json");
  assert.equal(evaluated, '{"value":2,"type":"int","cost":{"actual":1,"estimated":{"min":1,"max":1}}}\n');
});

const starting =
  'import { startServer } from "coxswain"; const server = await startServer(); console.log(server.url); await server.close();';

test("the installed library starts a server", { skip }, () => {
  assert.match(run("--input-type=module", "-e", starting), /^https:\/\/127\.0\.0\.1:\d+\n$/);
});

test("importing the test kit and starting a server loads few files", { skip }, (t) => {
  const hooks = `
    import { registerHooks } from "node:module";
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    const { startTestServer } = await import("coxswain/testing");
    await (await startTestServer()).close();
    console.log(loaded.filter((url) => url.startsWith("file:")).join("\\n"));`;
  const files = run("--input-type=module", "-e", hooks).trim().split("\n");
  t.diagnostic(files.join("\n"));
  assert.ok(files.length <= 10, `${files.length} files`);
});

test("the installed libraries evaluate expressions and apply intents", { skip }, () => {
  const printed = (name: string): string => {
    const { code = "" } = docstringExamples().find(({ title }) => title.endsWith(`: ${name}`)) ?? {};
    writeFileSync(join(directory, `${name}.ts`), code);
    return run(`${name}.ts`);
  };
  assert.equal(printed("kubernetesEnvironment"), "{ value: true, cost: 3 }\n");
  assert.equal(printed("applyIntent"), "{ a: 'x' }\n{ 'f:a': {} }\n");
});

test("the packed package has at most 2.5 MB", { skip }, (t) => {
  const { size } = statSync(archive);
  t.diagnostic(`${size} bytes`);
  assert.ok(size <= 2_500_000, `${size} bytes`);
});

test("the package has a file of types for each export", { skip }, () => {
  const files = readdirSync(join(directory, "node_modules/coxswain/dist"), { recursive: true, encoding: "utf8" });
  const types = files.filter((name) => name.endsWith(".d.ts")).sort();
  assert.deepEqual(types, ["cel.d.ts", "index.d.ts", "structured-merge.d.ts", "testing.d.ts"]);
});

const internalPaths = [
  ...["dist/index.js", "dist/server.js", "dist/cel.js", "dist/index.d.ts", "src/server/server.ts", "package.json"],
  ...["cel/index", "structured-merge/index.js", "internal"],
];

for (const path of internalPaths) {
  test(`coxswain/${path} cannot be imported`, { skip }, () => {
    const script = `await import("coxswain/${path}").then(() => "imported", ({ code }) => code).then(console.log)`;
    assert.equal(run("--input-type=module", "-e", script), "ERR_PACKAGE_PATH_NOT_EXPORTED\n");
  });
}

/** A program that uses the public types, for a compiler that knows no host. */
const consumer = `
  import { type Clock, defaultOptions, type RunningServer, type ServerOptions, startServer } from "coxswain";
  import { CelError, type CelValue, type Environment, jsonValue, kubernetesEnvironment } from "coxswain/cel";
  import { emptySet, type PathSet, TypedError } from "coxswain/structured-merge";
  import { deployment, eventually, startTestServer, type TestServer, useTestServer } from "coxswain/testing";

  export const clock: Clock = { now: () => 0, after: () => () => {} };
  export const options: Partial<ServerOptions> = { ...defaultOptions, clock, dataDir: "data", storage: "lmdb" };
  export const server: Promise<RunningServer> = startServer(options);
  export const environment: Environment = kubernetesEnvironment([1, 36]);
  export const bytes: CelValue = new Uint8Array(2);
  export const value: CelValue = jsonValue({ replicas: 2 });
  export const errors: readonly Error[] = [new CelError("", "cost", 1), new TypedError("")];
  export const set: PathSet = emptySet;
  export const test: Promise<TestServer> = startTestServer({ eventTtlSeconds: 1 });
  const hook = (run: () => void | Promise<void>): void => void run;
  export const kit = useTestServer({ beforeAll: hook, afterAll: hook, beforeEach: hook, afterEach: hook });
  export const replicas: number = deployment("web", { spec: { paused: true } }).spec.replicas;
  export const status: Promise<number> = eventually(async () => (await kit.server.fetch("/readyz")).status);
  // @ts-expect-error: not an engine
  export const wrong: ServerOptions["storage"] = "files";
`;

describe("strict programs compile without types of Node.js", () => {
  const compilers = { "TypeScript 7": "node_modules/.bin/tsc", "TypeScript 6": "tools/docs/node_modules/.bin/tsc" };
  const modules = {
    nodenext: { module: "nodenext" },
    bundler: { module: "esnext", moduleResolution: "bundler" },
  };
  for (const [compiler, path] of Object.entries(compilers)) {
    for (const [name, settings] of Object.entries(modules)) {
      test(`${compiler}, ${name}`, { skip }, () => {
        compile(path, { ...settings, lib: ["es2024"] }, { "consumer.ts": consumer });
      });
    }
    test(`${compiler}, the examples of docstrings`, { skip }, () => {
      const examples = docstringExamples().map(({ code }, index) => [`example-${index}.ts`, code]);
      compile(path, { module: "nodenext", lib: ["esnext", "dom"] }, Object.fromEntries(examples));
    });
  }
});

/** Checks the types of the package too, because `skipLibCheck` is not set. */
function compile(compiler: string, settings: object, files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const compilerOptions = { ...strict, ...settings, types: [], target: "es2024", noEmit: true };
  writeFileSync(join(directory, "tsconfig.json"), JSON.stringify({ compilerOptions, files: Object.keys(files) }));
  execFileSync(join(root, compiler), ["--project", directory], { cwd: directory, stdio: "inherit" });
}

/**
 * How each package manager installs an archive. pnpm fails after an installation that skipped
 * scripts of dependencies, none of which is needed here.
 */
const managers: readonly {
  readonly name: string;
  readonly package: string;
  readonly bin: string;
  readonly add: readonly string[];
  readonly fields?: object;
}[] = [
  { name: "npm", package: "npm@12", bin: "npm", add: ["install", "--no-audit", "--no-fund"] },
  { name: "pnpm", package: "pnpm@12", bin: "pnpm", add: ["add", "--config.strict-dep-builds=false"] },
  // Yarn needs all optional packages of all platforms to be in the registry: see `overrides` in package.json.
  {
    ...{ name: "yarn", package: "@yarnpkg/cli-dist@4", bin: "yarn", add: ["add"] },
    fields: { resolutions: { "msgpackr-extract": "3.0.4" } },
  },
  { name: "bun", package: "bun@1", bin: "bun", add: ["add"] },
];

for (const { name, package: installed, bin, add, fields } of managers) {
  test(`${name} installs the package in a clean directory`, { skip, timeout: 600_000 }, (t) => {
    const clean = mkdtempSync(join(tmpdir(), `coxswain-${name}-`));
    t.after(() => rmSync(clean, { recursive: true, force: true }));
    const programs = join(clean, "programs");
    const project = join(clean, "project");
    for (const folder of [programs, project]) mkdirSync(folder);
    writeFileSync(
      join(project, "package.json"),
      JSON.stringify({ name: "user", private: true, type: "module", ...fields }),
    );
    const quiet = ["--no-audit", "--no-fund", "--loglevel=error"];
    execFileSync("npm", ["install", ...quiet, "--prefix", programs, installed], { stdio: "inherit" });
    const env = { ...process.env, YARN_NODE_LINKER: "node-modules", YARN_ENABLE_IMMUTABLE_INSTALLS: "false" };
    const spec = name === "yarn" ? `coxswain@file:${archive}` : archive;
    execFileSync(join(programs, "node_modules/.bin", bin), [...add, spec], { cwd: project, env, stdio: "inherit" });
    const printed = execFileSync(process.execPath, ["--input-type=module", "-e", starting], {
      cwd: project,
      encoding: "utf8",
    });
    assert.match(printed, /^https:\/\/127\.0\.0\.1:\d+\n$/);
  });
}
