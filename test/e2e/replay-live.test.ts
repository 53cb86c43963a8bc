/** `coxswain replay --live`: the state of one server is recorded, and created in another one. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { recordCommand } from "../../src/cli/record/command.ts";
import { replayCommand } from "../../src/cli/replay/command.ts";
import { eventually } from "../../src/testing/eventually.ts";
import { kubectls } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { rawClient } from "../support/raw-client.ts";
import { type RanCommand, runCommand } from "../support/run-command.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";

let server: TestServer;
before(async () => {
  server = await startTestServer();
});
after(() => server.close());

const run = (script: string, file: string): Promise<RanCommand> =>
  runCommand((output) =>
    recordCommand.run(
      ["--kubeconfig", server.kubeconfigPath, "--force", "--to", file, "--", "sh", "-ec", script],
      output,
      process.env,
    ),
  );
const live = (script: string, file: string): Promise<RanCommand> =>
  runCommand((output) => replayCommand.run(["--live", file, "--", "sh", "-ec", script], output, process.env));

/** Writes the recording of a session that has read objects. @param answers paths and JSON */
function writeRecording(name: string, answers: readonly (readonly [path: string, json: string])[]): string {
  const file = join(server.directory, name);
  const lines = answers.flatMap(([path, json], index) => [
    `{"n":${index + 1},"request":{"method":"GET","path":"${path}","query":[]}}`,
    `{"n":${index + 1},"answer":{"status":200,"headers":{},"body":{"json":${json}}}}`,
  ]);
  writeFileSync(file, ['{"format":"coxswain-recording","version":2}', ...lines, ""].join("\n"));
  return file;
}

const definition = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "boats.example.com" },
  spec: {
    group: "example.com",
    scope: "Namespaced",
    names: { kind: "Boat", plural: "boats", singular: "boat" },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
};
const inNamespace = (name: string, more: object = {}) => ({ metadata: { namespace: "dock", name, ...more } });
const configMaps = "/api/v1/namespaces/dock/configmaps";
const boats = "/apis/example.com/v1/namespaces/dock/boats";

/** Creates what the session finds: objects of built-in kinds, a custom resource with a status, and an object that it owns. */
async function createObjects(): Promise<void> {
  const client = rawClient(server.kubeconfig);
  const create = async (path: string, body: object): Promise<string> => {
    const answer = await client.send({ method: "POST", path: `${path}?fieldManager=captain`, body });
    assert.equal(answer.status, 201, answer.text);
    return answer.body.metadata.uid;
  };
  await create("/api/v1/namespaces", { metadata: { name: "dock", labels: { place: "harbour" } } });
  await create("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", definition);
  await create(configMaps, { ...inNamespace("changed"), data: { x: "before" } });
  await create("/api/v1/namespaces/dock/secrets", { ...inNamespace("s"), stringData: { password: "Planted-1234" } });
  await eventually(async () => (await client.send({ path: boats })).status === 200, { timeoutMs: 60_000 });
  const boat = { apiVersion: "example.com/v1", kind: "Boat" };
  const uid = await create(boats, { ...boat, ...inNamespace("b"), spec: { sails: 2 } });
  const headers = { "content-type": "application/merge-patch+json" };
  const status = { status: { afloat: true } };
  const patched = await client.send({ method: "PATCH", path: `${boats}/b/status`, headers, body: status });
  assert.equal(patched.status, 200, patched.text);
  await create(configMaps, inNamespace("owned", { ownerReferences: [{ ...boat, name: "b", uid }] }));
  client.close();
}

for (const kubectl of kubectls().slice(-1)) {
  test("a live replay has the state before the session", async () => {
    const file = join(server.directory, "state.jsonl");
    await createObjects();

    const session = `{
${kubectl} get namespace,crd -A -o json
${kubectl} -n dock get configmaps,secrets,boats -o json
${kubectl} -n dock patch configmap changed --type=merge -p '{"data":{"x":"after"}}'
${kubectl} -n dock create configmap created
${kubectl} -n dock get configmaps,secrets -o json ; } > ${file}.out`;
    assert.deepEqual(await run(session, file), { code: 0, out: "", err: "" });

    const check = `
${kubectl} get namespace dock -o jsonpath='{.metadata.labels.place}{"\\n"}'
${kubectl} -n dock get configmaps -o jsonpath='{.items[*].metadata.name} {.items[0].data.x} {.items[2].metadata.ownerReferences[0].uid}{"\\n"}'
${kubectl} -n dock get boat b -o jsonpath='{.spec.sails} {.status.afloat} {.metadata.managedFields[0].manager} {.metadata.uid}{"\\n"}'
${kubectl} -n dock get secret s -o jsonpath='{.data.password}' | base64 -d | cut -c 1-9`;
    assert.deepEqual(await live(`{ ${check}\n} > ${file}.out`, file), { code: 0, out: "", err: "" });
    // The config map is owned by the boat, which has another uid now.
    assert.match(
      readFileSync(`${file}.out`, "utf8"),
      /^harbour\nchanged kube-root-ca\.crt owned before (\S+)\n2 true captain \1\nredacted-\n$/,
    );
  });
}

test("an object that cannot be created is named", async () => {
  const thing = { apiVersion: "example.org/v1", kind: "Thing", metadata: { name: "t", namespace: "a", uid: "1" } };
  const path = "/apis/example.org/v1/namespaces/a/things/t";
  const file = writeRecording("broken.jsonl", [[path, JSON.stringify(thing)]]);
  const ran = await live("true", file);
  assert.equal(ran.code, 1);
  assert.match(ran.err, /^Not created: \/apis\/example\.org\/v1\/namespaces\/a\/things\/t: .+\n$/);
  assert.equal((await live("exit 7", file)).code, 7);
});

/** Beyond doubles, at their limits, and in other forms of the same number. */
const numbers: [recorded: string, arrives: string][] = [
  ["9007199254740991", "9007199254740991"],
  ["9007199254740993", "9007199254740993"],
  ["-9007199254740993", "-9007199254740993"],
  ["9223372036854775807", "9223372036854775807"],
  ["-9223372036854775808", "-9223372036854775808"],
  ["0.1", "0.1"],
  ["-1.5e-7", "-1.5e-7"],
  ["1.7976931348623157e308", "1.7976931348623157e+308"],
  ["5e-324", "5e-324"],
  // The server stores the value of a number, and not its digits, as kube-apiserver does.
  ["1.0", "1"],
  ["1E5", "100000"],
];
test("numbers arrive as they were recorded, in the spec and in the status", {
  skip: skipWithout("kubectl"),
}, async () => {
  const definitionPath = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/boats.example.com";
  const list = numbers.map(([recorded]) => recorded).join(",");
  const managed = `"managedFields":[{"manager":"m","operation":"Update","apiVersion":"example.com/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{}}}]`;
  const boat = `{"apiVersion":"example.com/v1","kind":"Boat","metadata":{"namespace":"dock","name":"b","uid":"2",${managed}},"spec":[${list}],"status":[${list}]}`;
  const crd = JSON.stringify({ ...definition, metadata: { ...definition.metadata, uid: "1" } });
  const file = writeRecording("numbers.jsonl", [
    [definitionPath, crd],
    ["/apis/example.com/v1/namespaces/dock/boats/b", boat],
  ]);
  const client = join(server.directory, "numbers.out");
  const ran = await live(`${kubectls()[0]} get --raw /apis/example.com/v1/namespaces/dock/boats/b > ${client}`, file);
  assert.deepEqual(ran, { code: 0, out: "", err: "" });
  const expected = numbers.map(([, arrives]) => arrives).join(",");
  const text = readFileSync(client, "utf8");
  for (const field of ["spec", "status"]) assert.ok(text.includes(`"${field}":[${expected}]`), text);
});
