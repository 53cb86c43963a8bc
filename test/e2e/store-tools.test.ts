/**
 * `coxswain store` next to a running server, and the backup endpoint of the server. The commands that open a store which a
 * server uses, or that read one in another process, run as processes.
 */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, test } from "node:test";
import { storeCommand } from "../../src/cli/store/command.ts";
import { type RunningServer, startServer } from "../../src/index.ts";
import { main } from "../support/program.ts";
import { rawClient } from "../support/raw-client.ts";
import { runCommand } from "../support/run-command.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

const base = mkdtempSync(join(tmpdir(), "coxswain-store-"));
after(() => rmSync(base, { recursive: true, force: true }));
const configMaps = "/api/v1/namespaces/default/configmaps";

interface CommandResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function store(...args: string[]): CommandResult {
  const { status, stdout, stderr } = spawnSync(process.execPath, [main, "store", ...args], { encoding: "utf8" });
  return { code: status, out: stdout, err: stderr };
}

/** As {@link store}, within this process. */
async function storeHere(...args: string[]): Promise<CommandResult> {
  return await runCommand((output) => storeCommand.run(args, output, {}));
}

/** As {@link store}, while a server of this process answers. */
async function storeOfServer(...args: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [main, "store", ...args]);
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "exit")]);
  return { code: code as number | null, out, err };
}

/** Starts a server on its own directory and creates three ConfigMaps; `a` is then updated. */
async function serve(name: string): Promise<{ dataDir: string; server: TestServer }> {
  const dataDir = join(base, name);
  const server = await startTestServer({ storage: "lmdb", durability: "relaxed", dataDir });
  const client = rawClient(server.kubeconfig);
  for (const one of ["a", "b", "c"])
    await client.send({ method: "POST", path: configMaps, body: { metadata: { name: one }, data: { is: one } } });
  await client.send({
    method: "PUT",
    path: `${configMaps}/a`,
    body: { metadata: { name: "a" }, data: { is: "newer" } },
  });
  client.close();
  return { dataDir, server };
}

async function listNames(server: RunningServer): Promise<{ revision: number; names: string[] }> {
  const client = rawClient(server.kubeconfig);
  const { body } = await client.send({ path: configMaps });
  client.close();
  const items = body.items as { metadata: { name: string } }[];
  return { revision: Number(body.metadata.resourceVersion), names: items.map(({ metadata }) => metadata.name) };
}

describe("backup and restore", () => {
  let dataDir: string;
  let server: TestServer;
  const file = join(base, "backup");
  before(async () => {
    ({ dataDir, server } = await serve("running"));
  });
  after(() => server.close());

  test("a backup of a running server has mode 0600 and does not overwrite a file", async () => {
    const { code, out, err } = await storeOfServer("backup", dataDir, file);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /^\S+backup: \d+ objects at revision \d+\n$/);
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.deepEqual(store("backup", dataDir, file), {
      code: 2,
      out: "",
      err: `Error: ${file} exists already, and nothing is overwritten\n`,
    });
    assert.deepEqual(
      readdirSync(base).filter((name) => name.includes("unfinished")),
      [],
    );
    const { code: checked, out: said } = await storeHere("check", file, "-o", "json");
    assert.deepEqual([checked, JSON.parse(said).whole], [0, true]);
  });

  test("a restored server answers 410 to resourceVersions of the original, and continues above them", async () => {
    const client = rawClient(server.kubeconfig);
    await client.send({ method: "POST", path: configMaps, body: { metadata: { name: "after-the-backup" } } });
    client.close();
    const { revision: handedOut } = await listNames(server);
    const restored = join(base, "restored");
    const { code, out, err } = store("restore", file, restored);
    assert.deepEqual([code, err], [0, ""]);
    assert.match(out, /the store goes on at revision 1000000\d+\n$/);
    assert.match((await storeHere("restore", file, restored)).err, /exists already, and nothing is overwritten/);
    const second = await startTestServer({ storage: "lmdb", durability: "relaxed", dataDir: restored });
    const now = await listNames(second);
    assert.deepEqual(now.names, ["a", "b", "c"]);
    assert.ok(now.revision > handedOut);
    const again = rawClient(second.kubeconfig);
    const old = `resourceVersion=${handedOut}`;
    assert.equal((await again.send({ path: `${configMaps}?${old}&resourceVersionMatch=Exact` })).status, 410);
    const watched = await again.send({ path: `${configMaps}?${old}&watch=true&timeoutSeconds=5` });
    assert.equal(watched.body?.object?.code ?? watched.status, 410);
    assert.equal((await again.send({ path: `${configMaps}/a` })).body.data.is, "newer");
    const updated = await again.send({ method: "PUT", path: `${configMaps}/a`, body: { metadata: { name: "a" } } });
    assert.ok(Number(updated.body.metadata.resourceVersion) > now.revision);
    again.close();
    await second.close();
  });

  test("--bump-revision sets the increase of the revision", async () => {
    const higher = await storeHere("restore", file, join(base, "higher"), "--bump-revision", "5");
    assert.match(higher.out, /goes on at revision \d{2,4}\n$/);
    const rejected = await storeHere("restore", file, join(base, "none"), "--bump-revision", "0");
    assert.match(rejected.err, /must be a number from 1/);
  });

  test("rejects a damaged backup", async () => {
    const cut = join(base, "cut");
    writeFileSync(cut, readFileSync(file));
    truncateSync(cut, 5000);
    const { code, err } = await storeHere("restore", cut, join(base, "from-cut"));
    assert.equal(code, 2);
    assert.match(err, /^Error: the backup \S+ is damaged: the entry at byte \d+ is cut off\n$/);
    assert.ok(!readdirSync(base).includes("from-cut") || readdirSync(join(base, "from-cut")).length === 0);
    assert.equal((await storeHere("check", cut)).code, 2);
  });

  test("serves one backup at a time, to users with permission for its path only", async () => {
    const admin = rawClient(server.kubeconfig);
    const keeper = rawClient((await server.as("keeper")).kubeconfig);
    const send = (client: typeof admin, method = "POST", path = "/storage/backup") => client.send({ method, path });
    assert.equal((await send(keeper)).status, 403);
    const api = "/apis/rbac.authorization.k8s.io/v1";
    const rules = [{ nonResourceURLs: ["/storage/backup"], verbs: ["post"] }];
    await admin.send({ method: "POST", path: `${api}/clusterroles`, body: { metadata: { name: "backup" }, rules } });
    const roleRef = { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "backup" };
    const subjects = [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "keeper" }];
    await admin.send({
      method: "POST",
      path: `${api}/clusterrolebindings`,
      body: { metadata: { name: "backup" }, roleRef, subjects },
    });
    assert.equal((await send(keeper, "GET")).status, 403);
    assert.equal((await send(admin, "GET")).status, 405);
    assert.equal((await keeper.send({ method: "POST", path: "/storage/backup/../../x" })).status, 403);
    assert.equal((await admin.send({ method: "POST", path: "/storage/backup/x" })).status, 404);

    const [first, second] = await Promise.all([send(keeper), send(keeper)]);
    assert.deepEqual([first.status, second.status].sort(), [200, 429]);
    const downloaded = join(base, "downloaded");
    writeFileSync(downloaded, first.status === 200 ? first.bytes : second.bytes);
    assert.match((await storeHere("check", downloaded)).out, /all whole\n$/);
    assert.equal((await send(keeper)).status, 200, "the next one is served after the first");
    admin.close();
    keeper.close();
  });

  test("answers 404 for a backup of the in-memory storage", async () => {
    const memory = await startServer({ storage: "memory" });
    const client = rawClient(memory.kubeconfig);
    assert.equal((await client.send({ method: "POST", path: "/storage/backup" })).status, 404);
    client.close();
    await memory.close();
  });

  test("check and repair reject the store of a running server", () => {
    for (const args of [
      ["check", dataDir],
      ["repair", dataDir, "--to", join(base, "never")],
    ]) {
      const { code, err } = store(...args);
      assert.deepEqual([code, /in use by another server/.test(err)], [2, true], err);
    }
  });
});

describe("check and repair", () => {
  let dataDir: string;
  let data: string;
  let whole: Buffer;
  before(async () => {
    const served = await serve("damaged");
    await served.server.close();
    dataDir = served.dataDir;
    data = join(dataDir, "storage", "data.mdb");
    whole = readFileSync(data);
  });

  const restoreFile = (): void => writeFileSync(data, whole);

  test("check reports an undamaged store as whole", () => {
    const { code, out } = store("check", dataDir);
    assert.equal(code, 0);
    assert.match(out, /: \d+ objects at revision \d+, all whole\n$/);
  });

  test("check reports a damaged value; repair leaves the object out, or writes an older revision", async () => {
    const bytes = Buffer.from(whole);
    // Replaced pages may still have copies of the value: damage all of them.
    for (let at = bytes.indexOf('"newer"'); at >= 0; at = bytes.indexOf('"newer"', at + 1))
      bytes[at + 1] = (bytes[at + 1] as number) ^ 1;
    writeFileSync(data, bytes);
    const { code, out } = store("check", dataDir, "-o", "json");
    const { leftOut, damage } = JSON.parse(out);
    assert.equal(code, 1);
    assert.equal(damage.length, 1);
    assert.deepEqual(
      leftOut.map(({ key, olderRevision }: { key: string; olderRevision?: number }) => [
        key,
        olderRevision === undefined,
      ]),
      [["/registry/configmaps/default/a", false]],
    );
    const without = join(base, "without");
    const repaired = await storeHere("repair", dataDir, "--to", without);
    assert.equal(repaired.code, 1);
    assert.match(
      repaired.out,
      /configmaps\/default\/a \(revision \d+\): the checksum does not match; its revision \d+ can be read/,
    );
    const older = join(base, "older");
    assert.equal(store("repair", dataDir, "--to", older, "--use-older").code, 1);
    restoreFile();
    const rows: [string, string[], string | undefined][] = [
      [without, ["b", "c"], undefined],
      [older, ["a", "b", "c"], "a"],
    ];
    for (const [dir, names, value] of rows) {
      assert.equal(store("check", dir).code, 0);
      const server = await startServer({ storage: "lmdb", durability: "relaxed", dataDir: dir });
      assert.deepEqual(
        (await listNames(server)).names.filter((name) => name !== "kube-root-ca.crt"),
        names,
      );
      const client = rawClient(server.kubeconfig);
      assert.equal((await client.send({ path: `${configMaps}/a` })).body.data?.is, value);
      client.close();
      await server.close();
    }
  });

  test("check reports a crash of the native library and where it was reading", () => {
    truncateSync(data, 20 * 4096);
    const { code, out, err } = store("check", dataDir);
    restoreFile();
    assert.deepEqual([code, err], [1, ""]);
    assert.match(out, /the process that read it ended with (SIG\w+|code \d+) while it read .*, with LMDB/);
  });

  test("reports the reason for a path without a store, and for a wrong command line", async () => {
    const rows: [string[], RegExp][] = [
      [["check", base], /has no storage\/data\.mdb/],
      [["check", join(base, "absent")], /absent cannot be read: no such file or directory\n$/],
      [["check", main], /neither a data directory nor a backup/],
      [["backup", base, join(base, "x")], /has no storage\/data\.mdb/],
      [["repair", dataDir], /required option '--to <data-dir>' not specified/],
      [["mend", dataDir], /unknown command 'mend'/],
    ];
    for (const [args, message] of rows) {
      const { code, err } = await storeHere(...args);
      assert.equal(code, 2);
      assert.match(err, message);
    }
  });
});

test("--help lists the commands and the exit codes", async () => {
  const { code, out } = await storeHere("--help");
  assert.equal(code, 0);
  for (const text of ["backup", "restore", "check", "repair", "Exit codes: 0"]) assert.ok(out.includes(text), text);
  assert.ok(!out.includes("read <store>"));
});
