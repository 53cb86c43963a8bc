/**
 * Upstream's sample API server behind this server, with kubectl. Runs with COXSWAIN_TEST_FULL=1 if
 * Go and kubectl are installed.
 */
import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { freePort, frontProxyOptions } from "../support/aggregated-server.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { eventually } from "../support/until.ts";

const commands = kubectls();
const skip = skipWithout("full", "go", "kubectl");
const group = "wardle.example.com";
const base = `/apis/${group}/v1alpha1/namespaces/default/flunders`;

describe("the sample API server", { skip, timeout: 900_000 }, () => {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-sample-server-"));
  let server: TestServer;
  let client: RawClient;
  let sample: ChildProcess;
  let output = "";

  before(async () => {
    const binary = join(directory, "sample-server");
    const built = spawnSync("go", ["build", "-o", binary, "."], { cwd: join(import.meta.dirname, "sample-server") });
    assert.equal(built.status, 0, built.stderr?.toString());
    server = await startTestServer(await frontProxyOptions(directory));
    client = rawClient(server.kubeconfig);
    const port = await freePort();
    await create("/api/v1/namespaces", { metadata: { name: "wardle" } });
    const spec = { type: "ExternalName", externalName: "localhost" };
    await create("/api/v1/namespaces/wardle/services", { metadata: { name: "api" }, spec });
    for (const version of ["v1alpha1", "v1beta1"])
      await create("/apis/apiregistration.k8s.io/v1/apiservices", apiService(version, port));
    const { kubeconfigPath } = await server.as("system:serviceaccount:wardle:apiserver");
    await grant("system:serviceaccount:wardle:apiserver");
    const flags = ["--secure-port", String(port), "--bind-address", "127.0.0.1", "--cert-dir", directory];
    const delegates = ["--kubeconfig", "--authentication-kubeconfig", "--authorization-kubeconfig"];
    sample = spawn(binary, [...flags, ...delegates.flatMap((flag) => [flag, kubeconfigPath])]);
    sample.stderr?.on("data", (piece) => {
      output = (output + piece).slice(-20_000);
    });
    await eventually(
      () => output,
      async () => (await availability("v1alpha1"))?.status === "True",
    );
    // Its documents are fetched after the check.
    const isDocumented = async (path: string): Promise<boolean> =>
      (await client.send({ path })).text.includes("flunders");
    await eventually(
      () => "its OpenAPI documents are missing",
      async () => (await client.send({ path: "/openapi/v3" })).text.includes(group) && isDocumented("/openapi/v2"),
    );
  });

  after(async () => {
    sample?.stdin?.end();
    client?.close();
    await server?.close();
    rmSync(directory, { recursive: true, force: true });
  });

  function apiService(version: string, port: number) {
    const service = { namespace: "wardle", name: "api", port };
    const priorities = { groupPriorityMinimum: 1000, versionPriority: 15 };
    return {
      metadata: { name: `${version}.${group}` },
      spec: { group, version, ...priorities, service, insecureSkipTLSVerify: true },
    };
  }

  async function create(path: string, body: object): Promise<void> {
    const { status, text } = await client.send({ method: "POST", path, body });
    assert.equal(status, 201, text);
  }

  /** The rights that artifacts/example of the sample gives. */
  async function grant(user: string): Promise<void> {
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const subjects = [{ kind: "User", apiGroup: "rbac.authorization.k8s.io", name: user }];
    const roleRef = (kind: string, name: string) => ({ apiGroup: "rbac.authorization.k8s.io", kind, name });
    await create(`${rbac}/namespaces/kube-system/rolebindings`, {
      metadata: { name: "wardle-auth-reader" },
      roleRef: roleRef("Role", "extension-apiserver-authentication-reader"),
      subjects,
    });
    await create(`${rbac}/clusterrolebindings`, {
      metadata: { name: "wardle-auth" },
      roleRef: roleRef("ClusterRole", "system:auth-delegator"),
      subjects,
    });
    const read = ["get", "list", "watch"];
    await create(`${rbac}/clusterroles`, {
      metadata: { name: "wardle" },
      rules: [
        { apiGroups: [""], resources: ["namespaces"], verbs: read },
        {
          apiGroups: ["admissionregistration.k8s.io"],
          resources: ["*"],
          verbs: read,
        },
        { apiGroups: ["flowcontrol.apiserver.k8s.io"], resources: ["*"], verbs: read },
      ],
    });
    await create(`${rbac}/clusterrolebindings`, {
      metadata: { name: "wardle" },
      roleRef: roleRef("ClusterRole", "wardle"),
      subjects,
    });
  }

  async function availability(version: string): Promise<Record<string, string> | undefined> {
    const { body } = await client.send({ path: `/apis/apiregistration.k8s.io/v1/apiservices/${version}.${group}` });
    return body.status?.conditions?.[0];
  }

  const kubectl = (command: string, ...args: string[]) =>
    runKubectl(command, args, { directory, kubeconfigPath: server.kubeconfigPath });

  for (const command of commands) {
    const release = command.split(".").slice(-2).join(".");
    test(`kubectl ${release}: explain`, async () => {
      const { output: explained } = await kubectl(command, "explain", "flunders.spec");
      assert.match(explained, /flunderReference/);
    });

    test(`kubectl ${release}: discovery, create, get, label, patch, watch, delete`, async () => {
      const resources = await kubectl(command, "api-resources", "--api-group", group);
      assert.match(resources.output, /^flunders +wardle.example.com\/v1beta1 +true +Flunder$/m);
      const file = join(directory, "flunder.json");
      const flunder = {
        apiVersion: `${group}/v1alpha1`,
        kind: "Flunder",
        metadata: { name: "first" },
        spec: { reference: "a" },
      };
      writeFileSync(file, JSON.stringify(flunder));
      assert.match((await kubectl(command, "apply", "-f", file)).output, /flunder.wardle.example.com\/first created/);
      assert.match((await kubectl(command, "get", "flunders")).output, /^first /m);
      assert.match((await kubectl(command, "label", "flunder", "first", "a=b")).output, /labeled/);
      const patched = await kubectl(
        command,
        "patch",
        "flunder",
        "first",
        "--type=merge",
        "-p",
        '{"spec":{"flunderReference":"b"}}',
      );
      assert.match(patched.output, /patched/);
      const found = await kubectl(command, "get", "flunder", "first", "-o", "jsonpath={.metadata.labels.a} {.spec}");
      assert.match(found.output, /^b .*"flunderReference":"b"/);
      const waiting = kubectl(command, "wait", "--for=delete", "flunder/first", "--timeout=20s");
      assert.match((await kubectl(command, "delete", "flunder", "first")).output, /deleted/);
      assert.equal((await waiting).code, 0);
    });
  }

  test("a watch receives events, and ends with the APIService's server", async () => {
    const watching = client.send({ path: `${base}?watch=1&timeoutSeconds=3` });
    await create(base, { metadata: { name: "watched" } });
    const { text } = await watching;
    const events = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    assert.deepEqual(
      events.map(({ type, object }) => [type, object.metadata.name]),
      [["ADDED", "watched"]],
    );
    await client.send({ method: "DELETE", path: `${base}/watched` });
  });

  test("the aggregated server knows the user, and asks this server what they may do", async () => {
    const user = await server.as("ann", ["readers"]);
    const ann = rawClient(user.kubeconfig);
    const before = await ann.send({ path: base });
    assert.equal(before.status, 403, "this server authorizes requests");
    const rbac = "/apis/rbac.authorization.k8s.io/v1";
    const rules = [{ apiGroups: [group], resources: ["flunders"], verbs: ["get", "list"] }];
    await create(`${rbac}/clusterroles`, { metadata: { name: "flunder-reader" }, rules });
    await create(`${rbac}/clusterrolebindings`, {
      metadata: { name: "flunder-reader" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "flunder-reader" },
      subjects: [{ kind: "Group", apiGroup: "rbac.authorization.k8s.io", name: "readers" }],
    });
    assert.equal((await ann.send({ path: base })).status, 200);
    ann.close();
  });

  test("other requests are answered when the server has died", async () => {
    sample.kill("SIGKILL");
    await once(sample, "close");
    const { status, text } = await client.send({ path: base });
    assert.equal(status, 503, text);
    await eventually(
      () => "it is still available",
      async () => (await availability("v1alpha1"))?.status === "False",
    );
    assert.equal((await client.send({ path: base })).text, "service unavailable\n");
    for (const command of commands) {
      const { output } = await kubectl(command, "api-resources");
      assert.match(output, /^configmaps /m);
      assert.match((await kubectl(command, "get", "namespaces")).output, /^wardle /m);
    }
  });
});
