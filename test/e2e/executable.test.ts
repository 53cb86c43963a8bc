/** The single executable, without Node.js on the PATH. Needs COXSWAIN_TEST_FULL=1. */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, afterEach, before, test } from "node:test";
import { kubectls } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { rawClient } from "../support/raw-client.ts";

const root = join(import.meta.dirname, "..", "..");
const skip = skipWithout("full");
const [kubectl] = kubectls();

const program = join(root, "executable/coxswain");
const directory = mkdtempSync(join(tmpdir(), "coxswain-executable-"));
const home = join(directory, "home");
const env = { PATH: `${dirname(kubectl ?? "/usr/bin/kubectl")}:/usr/bin:/bin`, HOME: home };

before(() => {
  mkdirSync(home, { mode: 0o700 });
  if (skip === false) execFileSync(process.execPath, [join(root, "tools/executable/build.ts")], { stdio: "ignore" });
});
after(() => rmSync(directory, { recursive: true, force: true }));

const run = (...args: string[]): string => execFileSync(program, args, { cwd: directory, env, encoding: "utf8" });

test("the executable serves a store in LMDB, and backs it up in other processes", { skip }, async () => {
  const data = join(directory, "data");
  const { url, client, close } = await serve("--data-dir", data);
  assert.match(url, /^https:\/\/127\.0\.0\.1:\d+$/);
  assert.equal((await client.send({ path: "/api/v1/namespaces/default" })).status, 200);
  assert.match((await client.send({ path: "/openapi/v3/api/v1" })).text, /Pod is a collection of containers/);
  const downloaded = await client.send({ method: "POST", path: "/storage/backup" });
  assert.equal(downloaded.status, 200);
  const backup = join(directory, "backup");
  writeFileSync(backup, downloaded.bytes);
  assert.equal(await close(), 0);
  assert.match(run("store", "check", backup), /all whole/);
  assert.match(run("store", "check", data), /all whole/);
  assert.match(run("kubeconfig", "--data-dir", data, "--user", "ann"), /client-certificate-data/);
});

test("the addon is written where only the user can write, and again when it has other content", { skip }, async () => {
  const kept = join(home, ".cache/coxswain");
  const [addon = ""] = globSync(join(kept, "lmdb-*.node"));
  assert.equal(statSync(kept).mode & 0o777, 0o700);
  const before = readFileSync(addon);
  writeFileSync(addon, "no addon");
  const { close } = await serve("--data-dir", join(directory, "data"));
  assert.equal(await close(), 0);
  assert.ok(readFileSync(addon).equals(before));
});

test("without a directory of the user, the addon is in a new one that is removed", { skip }, async () => {
  const temporary = join(directory, "tmp");
  mkdirSync(temporary, { mode: 0o700 });
  chmodSync(home, 0o777);
  const { close } = await serve({ TMPDIR: temporary }, "--data-dir", join(directory, "data"));
  assert.deepEqual(globSync(join(temporary, "*")), []);
  assert.equal(await close(), 0);
  chmodSync(home, 0o700);
});

test("coxswain test runs kubectl", { skip: skipWithout("full", "kubectl") }, () => {
  assert.match(run("test", "--", "kubectl", "get", "namespaces"), /^default +Active/m);
  assert.equal(spawnSync(program, ["test", "--", "sh", "-c", "exit 7"], { env }).status, 7);
});

test("the programs for envtest run the executable", { skip }, () => {
  assert.match(run("envtest", join(directory, "assets")), /KUBEBUILDER_ASSETS/);
  const script = readFileSync(join(directory, "assets/kube-apiserver"), "utf8");
  assert.ok(script.replaceAll("'", "").includes(`exec ${program} envtest kube-apiserver`), script);
  const printed = spawnSync(join(directory, "assets/kube-apiserver"), ["--version"], { env, encoding: "utf8" });
  assert.match(printed.stdout, /v1\.36/, printed.stderr);
});

test("commands without a server run", { skip }, () => {
  assert.match(run("version"), /^Coxswain v/);
  assert.equal(run("cel", "eval", "--expr", "1 + 1", "--json").slice(0, 10), '{"value":2');
  assert.match(run("--help"), /Usage: coxswain/);
});

/** Those of failed tests run on, and hold their directory. */
const served = new Set<ChildProcess>();
afterEach(() => {
  for (const child of served) child.kill("SIGKILL");
  served.clear();
});

interface Served {
  readonly url: string;
  readonly client: ReturnType<typeof rawClient>;
  /** @returns the exit code */
  close(): Promise<number | null>;
}

async function serve(...args: [NodeJS.ProcessEnv, ...string[]] | string[]): Promise<Served> {
  const [first, ...rest] = args;
  const [own, flags] = typeof first === "object" ? [first, rest as string[]] : [{}, args as string[]];
  const child = spawn(program, [...flags, "--secure-port=0"], {
    env: { ...env, ...own },
    stdio: ["ignore", "pipe", "inherit"],
  });
  served.add(child);
  const exited = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const text = await Promise.race([
    new Promise<string>((resolve) => child.stdout.once("data", (piece) => resolve(String(piece)))),
    exited.then((code) => assert.fail(`the executable ended with ${code}`)),
  ]);
  const client = rawClient(readFileSync(/kubeconfig: (.*)/.exec(text)?.[1] as string, "utf8"));
  return {
    url: /Serving (\S+)/.exec(text)?.[1] as string,
    client,
    close() {
      client.close();
      child.kill("SIGTERM");
      return exited;
    },
  };
}
