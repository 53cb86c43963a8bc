/** `coxswain record` is killed within a session: what it has received is in the file, and can be replayed. */
import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, readFileSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { replayCommand } from "../../src/cli/replay/command.ts";
import { kubectls } from "../support/kubectl.ts";
import { main } from "../support/program.ts";
import { type RanCommand, runCommand } from "../support/run-command.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const config = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data: { x: "1" } };
const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s" }, stringData: { password: "Planted-1234" } };

/** Records a shell script until it prints `ready`, and kills the recorder. The script ends with its input. */
async function recordUntilReady(script: string, file: string): Promise<void> {
  const args = [main, "record", "--kubeconfig", server.kubeconfigPath, "--to", file, "--", "sh", "-ec", script];
  const recorder = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: recorder.stdout });
  await untilReady(lines, recorder);
  const exited = once(recorder, "exit");
  const scriptEnded = once(lines, "close");
  recorder.kill("SIGKILL");
  await exited;
  recorder.stdin.destroy();
  await scriptEnded;
}

async function untilReady(lines: AsyncIterable<string>, { exitCode }: ChildProcess): Promise<void> {
  for await (const line of lines) if (line === "ready") return;
  assert.fail(`the script has ended with ${exitCode}`);
}

const replay = (file: string, script: string): Promise<RanCommand> =>
  runCommand((output) => replayCommand.run([file, "--", "sh", "-ec", script], output, process.env));

for (const kubectl of kubectls().slice(-1)) {
  test("a session of kubectl, with a watch in flight", async () => {
    const newFile = (name: string): string => join(server.directory, name);
    const [file, manifest, out] = [newFile("session.jsonl"), newFile("manifest.json"), newFile("out")];
    writeFileSync(manifest, JSON.stringify({ apiVersion: "v1", kind: "List", items: [config, secret] }));
    // The watch shows the config map that exists, and the change of it.
    const session = `exec 3> ${out}
${kubectl} apply -f ${manifest} >&3
{ ${kubectl} get configmap a --watch -o jsonpath='{.data.x}{"\\n"}'; } > ${out}.watch &
watch=$!
until grep -q 1 ${out}.watch; do sleep 0.05; done
${kubectl} patch configmap a --type=merge -p '{"data":{"x":"2"}}' >&3
until grep -q 2 ${out}.watch; do sleep 0.05; done`;
    await recordUntilReady(`${session}\necho ready\nread line || kill $watch`, file);

    assert.equal(statSync(file).mode & 0o777, 0o600);
    const text = readFileSync(file, "utf8");
    assert.match(text, /^\{"format":"coxswain-recording","version":2,"isPartial":true\}\n/);
    assert.ok(text.endsWith("\n"));
    for (const form of ["Planted-1234", Buffer.from("Planted-1234").toString("base64")])
      assert.ok(!text.includes(form));

    const stopped = `Warning: ${file}: the recorder was stopped before the session ended: the end of the session is missing\n`;
    const again = `${session}\nkill $watch`;
    assert.deepEqual(await replay(file, again), { code: 0, out: "", err: stopped });
    assert.equal(readFileSync(`${out}.watch`, "utf8"), "1\n2\n");

    // The recorder can also be stopped within a line.
    const lines = text.split("\n").length;
    appendFileSync(file, '{"n":100,"request":{"meth');
    const torn = `Warning: ${file}: line ${lines} is incomplete, and left out\n`;
    assert.deepEqual(await replay(file, again), { code: 0, out: "", err: stopped + torn });
    truncateSync(file, 20);
    const none = await replay(file, again);
    assert.deepEqual([none.code, none.err], [125, `Error: ${file}: line 1: this is not a recording\n`]);
  });
}
