import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer, type TestServer } from "../../testing/index.ts";
import type { Sender } from "../client/ask.ts";
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
  const [code, json] = await run(controlled, "--list", "-o", "json");
  assert.deepEqual(
    [code, JSON.parse(json).map((rule: { id: string; hits: number }) => [rule.id, rule.hits])],
    [0, [[id, 0]]],
  );
  assert.deepEqual(await run(controlled, "--clear"), [0, `Removed:\n${id} conflict for {}: 0 hits\n`, ""]);
  assert.deepEqual(await run(controlled, "--clear"), [0, "No rules.\n", ""]);
});

const seeHelp = "\nRun coxswain chaos --help for its options.";
const wrong: [argv: string[], message: string][] = [
  [[], `exactly one of --filename, --list and --clear is required${seeHelp}`],
  [["--list", "--clear"], `exactly one of --filename, --list and --clear is required${seeHelp}`],
  [["--list", "--for", "1s"], `--for needs --filename${seeHelp}`],
  [
    ["-f", join(directory, "missing.yaml")],
    `${join(directory, "missing.yaml")} cannot be read: no such file or directory`,
  ],
  [["-f", fileOf("list.yaml", "- a\n")], "the file must have an object with the field rules, a list"],
  [["-f", fileOf("empty.yaml", "rules: []\n")], "the file has no rules"],
  [
    ["-f", fileOf("twice.yaml", "rules:\n- match: {verb: get, verb: list}\n  fault: {type: gone}\n")],
    `${join(directory, "twice.yaml")}: yaml: unmarshal errors:\n  line 2: key "verb" already set in map`,
  ],
  [
    ["-f", fileOf("large.yaml", "rules:\n- match: {count: 9007199254740993}\n  fault: {type: gone}\n")],
    "rules[0].match.count: must be a whole number between 1 and 1000000000",
  ],
  [
    ["-f", fileOf("huge.yaml", `# ${"x".repeat(1 << 20)}\n${rules}`)],
    `${join(directory, "huge.yaml")} has more than 1 MiB`,
  ],
  [["-f", fileOf("wrong.yaml", "rules:\n- fault: {type: latency}\n")], "rules[0].fault.ms: is required"],
];
for (const [argv, message] of wrong) {
  test(`rejects ${argv.map((text) => text.replace(directory, "…")).join(" ") || "no option"}`, async () => {
    assert.deepEqual(await run(controlled, ...argv), [2, "", `Error: ${message}\n`]);
    assert.deepEqual(controlled.faults.list(), []);
  });
}

for (const [span, message] of [
  ["-1s", "must not be negative"],
  ["577h", "must be at most 576h"],
  ["soon", "invalid duration"],
]) {
  test(`rejects --for ${span}`, async () => {
    const [code, , err] = await run(controlled, "-f", fileOf("rules.yaml", rules), "--for", span as string);
    assert.equal(code, 2);
    assert.match(err, new RegExp(message as string));
    assert.deepEqual(controlled.faults.list(), []);
  });
}

test("removes the other rules when one cannot be removed", async () => {
  const rules = [1, 2, 3].map(() => ({ fault: { type: "conflict" } }));
  await withClient({ kubeconfig: fileOf("kubeconfig", controlled.kubeconfig) }, {}, async (sender) => {
    const added = await addedRules(sender, { rules });
    const failing: Sender = {
      async send(request) {
        if (request.path.endsWith(`/${added[1]?.id}`)) throw new Error("connection lost");
        return sender.send(request);
      },
    };
    await assert.rejects(applyRules(failing, added, { print() {}, end: AbortSignal.abort() }), /connection lost/);
    assert.deepEqual(
      controlled.faults.list().map(({ id }) => id),
      [added[1]?.id],
    );
    controlled.faults.clear();
  });
});

test("says which flag a server without control paths needs", async () => {
  const message = "Error: the server cannot be controlled; Coxswain can with --enable-test-control\n";
  assert.deepEqual(await run(plain, "--list"), [2, "", message]);
});
