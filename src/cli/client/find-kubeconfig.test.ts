import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { after, test } from "node:test";
import { findKubeconfig } from "./find-kubeconfig.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-kubeconfig-"));
after(() => rmSync(directory, { recursive: true, force: true }));

function write(name: string, text: string): string {
  const file = join(directory, name);
  writeFileSync(file, text);
  return file;
}

const cluster = (name: string, server: string): string =>
  `clusters: [{name: ${name}, cluster: {server: '${server}'}}]\n`;
const context = (name: string): string =>
  `contexts: [{name: ${name}, context: {cluster: c, user: u, namespace: ns}}]\n`;

test("merges several files; the first definition wins", async () => {
  const first = write("first", `${cluster("c", "https://first")}${context("x")}`);
  const second = write(
    "second",
    `current-context: x\n${cluster("c", "https://second")}${context("z")}users: [{name: u, user: {token: t}}]\n`,
  );
  const found = await findKubeconfig(undefined, {
    KUBECONFIG: [first, join(directory, "absent"), "", second].join(delimiter),
  });
  assert.equal(found.currentContext, "x");
  assert.deepEqual([found.clusters.get("c")?.server, found.users.get("u")?.token], ["https://first", "t"]);
  assert.deepEqual([...found.contexts.keys()].sort(), ["x", "z"]);
  assert.deepEqual(found.contexts.get("x"), { cluster: "c", user: "u", namespace: "ns" });
});

test("prefers a named file to KUBECONFIG, and requires that it exists", async () => {
  const named = write("named", cluster("c", "https://named"));
  const found = await findKubeconfig(named, { KUBECONFIG: write("other", cluster("c", "https://other")) });
  assert.equal(found.clusters.get("c")?.server, "https://named");
  await assert.rejects(findKubeconfig(join(directory, "absent"), {}), {
    message: `${directory}/absent cannot be read: no such file or directory`,
  });
});

test("requires that a file of KUBECONFIG exists", async () => {
  await assert.rejects(findKubeconfig(undefined, { KUBECONFIG: join(directory, "absent") }), {
    message: `no kubeconfig was found: KUBECONFIG is ${directory}/absent, which does not exist`,
  });
});

test("reports an invalid file", async () => {
  await assert.rejects(findKubeconfig(undefined, { KUBECONFIG: write("wrong", "users: 5") }), {
    message: `error loading config file "${directory}/wrong": json: cannot unmarshal number into Go struct field Config.users of type []v1.NamedAuthInfo`,
  });
});

const execRows: [what: string, exec: string, want: object][] = [
  ["a command without a path is kept", "command: login", { command: "login" }],
  ["a relative path is resolved against the file", "command: ./bin/login", { command: join(directory, "bin/login") }],
  ["an absolute path is kept", "command: /bin/login", { command: "/bin/login" }],
  [
    "v1beta1 defaults interactiveMode to IfAvailable",
    "apiVersion: client.authentication.k8s.io/v1beta1",
    { interactiveMode: "IfAvailable" },
  ],
  ["v1 has no default of interactiveMode", "apiVersion: client.authentication.k8s.io/v1", { interactiveMode: "" }],
  [
    "arguments and variables",
    "args: [a, b], env: [{name: NAME, value: v}]",
    { args: ["a", "b"], env: [{ name: "NAME", value: "v" }] },
  ],
];
const nothing = {
  command: "",
  args: [],
  env: [],
  apiVersion: "",
  installHint: "",
  provideClusterInfo: false,
  interactiveMode: "",
};
for (const [what, exec, want] of execRows) {
  test(`a plugin: ${what}`, async () => {
    const file = write("plugin", `users: [{name: u, user: {exec: {${exec}}}}]`);
    const found = (await findKubeconfig(file, {})).users.get("u")?.exec;
    assert.deepEqual(found, { ...nothing, ...(found?.apiVersion && { apiVersion: found.apiVersion }), ...want });
  });
}
