/** `coxswain record` and `coxswain replay` with real clients. */
import assert from "node:assert/strict";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { recordCommand } from "../../src/cli/record/command.ts";
import { replayCommand } from "../../src/cli/replay/command.ts";
import { kubectls } from "../support/kubectl.ts";
import { type RanCommand, runCommand } from "../support/run-command.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

let files = 0;
const newFile = (name: string): string => join(server.directory, `${files++}-${name}`);

/** A program that uses the kubeconfig of its environment. */
function program(text: string): readonly string[] {
  const file = newFile("program.mjs");
  writeFileSync(
    file,
    `import { readFileSync } from "node:fs";
import https from "node:https";
const config = readFileSync(process.env.KUBECONFIG, "utf8");
const field = (name) => config.match(new RegExp(name + ": (.*)"))[1];
const pem = (name) => Buffer.from(field(name), "base64");
const agent = new https.Agent({ keepAlive: true, ca: pem("certificate-authority-data"), cert: pem("client-certificate-data"), key: pem("client-key-data") });
function send(method, path, body, headers = {}) {
  return new Promise((resolve, reject) => {
    const type = typeof body === "object" && !Buffer.isBuffer(body) ? { "content-type": "application/json" } : {};
    const request = https.request(field("server") + path, { method, agent, headers: { ...type, ...headers } }, (answer) => {
      const pieces = [];
      answer.on("data", (piece) => pieces.push(piece)).on("end", () => resolve({ status: answer.statusCode, text: String(Buffer.concat(pieces)) }));
    });
    request.on("error", reject);
    request.end(body === undefined || Buffer.isBuffer(body) || typeof body === "string" ? body : JSON.stringify(body));
  });
}
${text}
agent.destroy();
`,
  );
  return [process.execPath, file];
}

async function record(command: readonly string[], ...options: string[]): Promise<{ ran: RanCommand; file: string }> {
  const file = newFile("session.jsonl");
  const argv = ["--kubeconfig", server.kubeconfigPath, "--to", file, ...options, "--", ...command];
  return { ran: await runCommand((output) => recordCommand.run(argv, output, process.env)), file };
}

const replay = (file: string, command: readonly string[], ...options: string[]): Promise<RanCommand> =>
  runCommand((output) => replayCommand.run([...options, file, "--", ...command], output, process.env));

const writes = `
const kind = { apiVersion: "v1", kind: "ConfigMap" };
await send("POST", "/api/v1/namespaces/default/configmaps", { ...kind, metadata: { name: process.env.NAME ?? "a" }, data: { x: process.env.X ?? "1" } });
const { text } = await send("GET", "/api/v1/namespaces/default/configmaps/a");
if (JSON.parse(text).data.x !== "1") process.exitCode = 3;
await send("DELETE", "/api/v1/namespaces/default/configmaps/a");
`;

describe("a session of writes", () => {
  let recorded: string;

  test("is recorded in a private file, and replayed without the server", async () => {
    const command = program(writes);
    const { ran, file } = await record(command);
    assert.deepEqual(ran, { code: 0, out: "", err: "" });
    assert.equal(statSync(file).mode & 0o777, 0o600);
    assert.equal(readFileSync(file, "utf8").split("\n")[0], '{"format":"coxswain-recording","version":2}');
    assert.deepEqual(await replay(file, command), { code: 0, out: "", err: "" });
    recorded = file;
  });

  const changes: [title: string, from: string, to: string, err: RegExp][] = [
    ["another body", '?? "1"', '?? "2"', /^Difference: POST \S+: body.data.x: recorded "1", received "2"\n/],
    [
      "another path",
      "configmaps/a",
      "configmaps/b",
      /^Difference: GET \S+b: it was not recorded; the nearest request that has not arrived is GET \S+a\n/,
    ],
    ["a missing request", 'await send("DELETE', 'await ("DELETE', /^Not sent: DELETE \S+\n$/],
    [
      "a repeated request",
      "const kind",
      'await send("DELETE", "/api/v1/namespaces/default/configmaps/a"); const kind',
      /: POST \S+ was recorded before it\n/,
    ],
  ];
  for (const [title, from, to, err] of changes) {
    test(`differs by ${title}`, async () => {
      const ran = await replay(recorded, program(writes.replace(from, to)), "--patience=100ms");
      assert.match(ran.err, err);
      assert.notEqual(ran.code, 0);
    });
  }
});

test("the exit code of the command is returned", async () => {
  const { ran } = await record(["sh", "-c", "exit 7"]);
  assert.equal(ran.code, 7);
});

test("an existing file is not replaced", async () => {
  const { ran } = await record(["true"], "--to", server.kubeconfigPath);
  assert.deepEqual([ran.code, ran.err], [125, `Error: ${server.kubeconfigPath} exists already: --force replaces it\n`]);
});

for (const kubectl of kubectls().slice(-1)) {
  test("kubectl apply, get, watch and delete are replayed", async () => {
    const manifest = newFile("manifest.yaml");
    const secret = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "s" },
      stringData: { password: "Planted-1234" },
    };
    const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data: { a: "b" } };
    writeFileSync(manifest, `${JSON.stringify(secret)}\n---\n${JSON.stringify(map)}\n`);
    const script = `set -e
${kubectl} apply -f ${manifest}
${kubectl} get secrets
${kubectl} wait --for=jsonpath='{.data.a}'=b configmap/m
${kubectl} delete -f ${manifest}`;
    const { ran, file } = await record(["sh", "-c", `{ ${script} ; } > /dev/null`]);
    assert.equal(ran.code, 0);
    const text = readFileSync(file, "utf8");
    for (const form of ["Planted-1234", Buffer.from("Planted-1234").toString("base64")])
      assert.ok(!text.includes(form));
    assert.deepEqual(await replay(file, ["sh", "-c", `{ ${script} ; } > /dev/null`]), { code: 0, out: "", err: "" });
  });

  /** Discovery and OpenAPI documents are cached for the session, also by their headers. */
  const caches: [title: string, before: string][] = [
    ["with a cache that the first command fills", "true"],
    ["with a cache that is removed before each command", 'rm -r "$KUBECACHEDIR" 2> /dev/null || true'],
  ];
  for (const [title, before] of process.env.COXSWAIN_TEST_FULL === "1" ? caches : caches.slice(0, 1))
    test(`kubectl apply of a change, edit, describe and server-side apply are replayed ${title}`, async () => {
      const [first, second] = ["one", "two"].map((x) => {
        const manifest = newFile(`${x}.json`);
        const map = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m" }, data: { x } };
        writeFileSync(manifest, JSON.stringify(map));
        return manifest;
      });
      const commands = [
        `apply -f ${first}`,
        `apply -f ${second}`,
        "edit configmap m",
        "get configmap m -o jsonpath={.data.x}",
        `apply --server-side --force-conflicts -f ${first}`,
        "describe configmap m",
        "delete configmap m",
      ];
      const steps = commands.map((command) => `${before}\n${kubectl} ${command}`);
      const lines = (report: string): readonly string[] => [
        "sh",
        "-c",
        `set -e\nexport KUBE_EDITOR="sed -i s/two/three/"\n{ ${steps.join("\n")}\n} > ${report}`,
      ];
      const reports = [newFile("recorded"), newFile("replayed")] as const;
      const { ran, file } = await record(lines(reports[0]), "--keep-last-applied");
      assert.deepEqual(ran, { code: 0, out: "", err: "" });
      assert.deepEqual(await replay(file, lines(reports[1])), { code: 0, out: "", err: "" });
      const [recorded, replayed] = reports.map((report) => readFileSync(report, "utf8").replace(/\d+s$/gm, "AGE"));
      assert.match(recorded as string, /configmap\/m edited\nthreeconfigmap\/m serverside-applied\n/);
      assert.equal(replayed, recorded);
    });
}

test("an answer can be cached as long as when it was recorded", async () => {
  const [date, expires] = ["Thu, 01 Jan 2026 00:00:00 GMT", "Fri, 01 Jan 2027 00:00:00 GMT"];
  const headers = { date, expires, "cache-control": "public", vary: "Accept" };
  const lines = [
    { format: "coxswain-recording", version: 2 },
    { n: 1, request: { method: "GET", path: "/openapi/v3/api/v1", query: [] } },
    { n: 1, answer: { status: 200, headers, body: { json: {} } } },
    { n: 2, request: { method: "GET", path: "/version", query: [] } },
    {
      n: 2,
      answer: { status: 200, headers: { date: "Thu, 01 Jan 2026 00:00:01 GMT", expires: "0" }, body: { json: {} } },
    },
  ];
  const file = newFile("session.jsonl");
  writeFileSync(file, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  const report = newFile("report");
  const command = program(`
import { writeFileSync } from "node:fs";
const answers = ["/openapi/v3/api/v1", "/version"].map((path) => new Promise((resolve) =>
  https.get(field("server") + path, { agent }, (answer) => resolve(answer.resume().headers))));
writeFileSync(${JSON.stringify(report)}, JSON.stringify(await Promise.all(answers)));
`);
  assert.deepEqual(await replay(file, command), { code: 0, out: "", err: "" });
  const [first, second] = JSON.parse(readFileSync(report, "utf8"));
  assert.deepEqual([first["cache-control"], first.vary, second.expires], ["public", "Accept", "0"]);
  assert.equal(Date.parse(first.expires) - Date.parse(first.date), Date.parse(expires) - Date.parse(date));
  assert.equal(Date.parse(second.date) - Date.parse(first.date), 1000);
  assert.ok(Date.parse(first.date) > Date.parse(date));
});
