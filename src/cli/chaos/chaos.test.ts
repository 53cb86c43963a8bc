import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer, type TestServer } from "../../testing/index.ts";
import { withClient } from "../client/with-client.ts";
import { chaosCommand } from "./command.ts";
import { addedRules, applyRules } from "./rules.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-chaos-"));
let controlled: TestServer;
let plain: TestServer;
before(async () => {
  controlled = await startTestServer({ controllers: [], control: true });
  plain = await startTestServer({ controllers: [] });
});
after(async () => {
  await Promise.all([controlled.close(), plain.close()]);
  rmSync(directory, { recursive: true });
});

function fileOf(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

async function run(server: TestServer, ...argv: string[]): Promise<[code: number, out: string, err: string]> {
  const text = { out: "", err: "" };
  const output = {
    out: (more: string) => {
      text.out += more;
    },
    err: (more: string) => {
      text.err += more;
    },
  };
  const kubeconfig = fileOf("kubeconfig", server.kubeconfig);
  const code = await chaosCommand.run([...argv, "--kubeconfig", kubeconfig], output, {});
  return [code, text.out, text.err];
}

const rules =
  "rules:\n- match: {verb: get, resource: configmaps}\n  fault: {type: tooManyRequests, retryAfterSeconds: 2}\n";

test("adds the rules of a file for some time, and removes them", async () => {
  const [code, out, err] = await run(controlled, "-f", fileOf("rules.yaml", rules), "--for", "10ms");
  assert.deepEqual([code, err, controlled.faults.list()], [0, "", []]);
  assert.match(
    out,
    /^Added:\nfault-\d+ tooManyRequests \{"retryAfterSeconds":2\} for \{"resource":"configmaps","verb":"get"\}: 0 hits\nRemoved\.\n$/,
  );
});

test("prints hits, and leaves the rules of others", async () => {
  const other = controlled.faults.add({ verb: "patch" }, { type: "conflict" });
  const end = new AbortController();
  const printed: string[] = [];
  const client = rawClient(controlled.kubeconfig);
  await withClient({ kubeconfig: fileOf("kubeconfig", controlled.kubeconfig) }, {}, async (sender) => {
    const added = await addedRules(sender, { rules: [{ match: { verb: "get" }, fault: { type: "internalError" } }] });
    await client.send({ path: "/version" });
    const print = (text: string): void => {
      printed.push(text);
      if (text.includes("1 hits")) end.abort();
    };
    await applyRules(sender, added, { print, end: end.signal });
  });
  client.close();
  assert.match(printed.join(""), /internalError for \{"verb":"get"\}: 1 hits\nRemoved\.\n$/);
  assert.deepEqual(controlled.faults.list(), [other]);
  other.remove();
});

test("lists and clears rules", async () => {
  assert.deepEqual(await run(controlled, "--list"), [0, "No rules.\n", ""]);
  const { id } = controlled.faults.add({}, { type: "conflict" });
  assert.deepEqual(await run(controlled, "--list"), [0, `${id} conflict for {}: 0 hits\n`, ""]);
  assert.deepEqual(await run(controlled, "--clear"), [0, `Removed:\n${id} conflict for {}: 0 hits\n`, ""]);
  assert.deepEqual(await run(controlled, "--clear"), [0, "No rules.\n", ""]);
});

const wrong: [argv: string[], message: string][] = [
  [[], "exactly one of --filename, --list and --clear is required"],
  [["--list", "--clear"], "exactly one of --filename, --list and --clear is required"],
  [["--list", "--for", "1s"], "--for needs --filename"],
  [["-f", join(directory, "missing.yaml")], `${join(directory, "missing.yaml")} cannot be read: ENOENT`],
  [["-f", fileOf("list.yaml", "- a\n")], "the file must have an object with the field rules, a list"],
  [["-f", fileOf("wrong.yaml", "rules:\n- fault: {type: latency}\n")], "rules[0].fault.ms: is required"],
];
for (const [argv, message] of wrong) {
  test(`rejects ${argv.map((text) => text.replace(directory, "…")).join(" ") || "no option"}`, async () => {
    assert.deepEqual(await run(controlled, ...argv), [2, "", `Error: ${message}\n`]);
    assert.deepEqual(controlled.faults.list(), []);
  });
}

test("says which flag a server without control paths needs", async () => {
  const message = "Error: the server cannot be controlled; Coxswain can with --enable-test-control\n";
  assert.deepEqual(await run(plain, "--list"), [2, "", message]);
});
