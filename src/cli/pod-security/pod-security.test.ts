/** Output and exit codes of `coxswain pod-security check`. */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { rawClient } from "../../../test/support/raw-client.ts";
import { type RanCommand, runCommand } from "../../../test/support/run-command.ts";
import { startTestServer } from "../../../test/support/start-test-server.ts";
import { podSecurityCommand } from "./command.ts";

const testdata = join(import.meta.dirname, "testdata");
const manifests = join(testdata, "manifests.yaml");
const allowed = join(testdata, "allowed.yaml");
const directory = mkdtempSync(join(tmpdir(), "coxswain-pod-security-"));
after(() => rmSync(directory, { recursive: true }));

const run = (...argv: string[]): Promise<RanCommand> =>
  runCommand((output) => podSecurityCommand.run(["check", ...argv], output, {}));

test("lists the violations of each pod and controller, with fields and allowed values", async () => {
  const { code, out, err } = await run("-f", manifests, "--level", "baseline");
  assert.deepEqual([code, err], [1, ""]);
  assert.equal(
    out,
    `Deployment shop/web: violates 2 checks
  hostNamespaces: host namespaces (hostNetwork=true)
    spec.template.spec.hostNetwork is true, allowed: false, or unset
  privileged: privileged (container "web" must not set securityContext.privileged=true)
    spec.template.spec.containers[0].securityContext.privileged is true, allowed: false, or unset
Pod good: allowed
Pod network-: violates 2 checks
  hostNamespaces: host namespaces (hostNetwork=true)
    spec.hostNetwork is true, allowed: false, or unset
  hostPorts: hostPort (container "a" uses hostPort 80)
    spec.containers[0].ports[0].hostPort is 80, allowed: 0, or unset
CronJob night: violates 1 check
  hostNamespaces: host namespaces (hostPID=true)
    spec.jobTemplate.spec.template.spec.hostPID is true, allowed: false, or unset
ReplicationController empty: allowed
3 of 5 objects violate baseline:latest.
`,
  );
});

test("prints JSON", async () => {
  const { code, out } = await run(
    "-f",
    allowed,
    "-f",
    manifests,
    "--level",
    "restricted",
    "--version",
    "v1.7",
    "-o",
    "json",
  );
  assert.equal(code, 1);
  const { level, version, objects } = JSON.parse(out);
  assert.deepEqual([level, version, objects.length], ["restricted", "v1.7", 6]);
  assert.deepEqual(objects[0], { kind: "Pod", name: "good", allowed: true, violations: [] });
  assert.deepEqual(objects[1].violations.at(-1), {
    check: "runAsNonRoot",
    level: "restricted",
    reason: "runAsNonRoot != true",
    detail: 'pod or container "web" must set securityContext.runAsNonRoot=true',
    fields: [
      {
        field: "spec.template.spec.containers[0].securityContext.runAsNonRoot",
        allowed: "true, here or for the pod",
      },
    ],
  });
});

test("the exit code is 0 if all objects are allowed", async () => {
  for (const level of ["privileged", "baseline", "restricted"]) {
    const { code, out } = await run("-f", allowed, "--level", level);
    assert.deepEqual([code, out], [0, `Pod good: allowed\n0 of 1 objects violate ${level}:latest.\n`]);
  }
});

const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "a", namespace: "b" } };
const invalid: readonly (readonly [what: string, content: object, message: string])[] = [
  [
    "a field of another type",
    { ...pod, spec: { hostPID: "yes" } },
    "Pod b/a: json: cannot unmarshal string into Go struct field PodSpec.spec.hostPID of type bool",
  ],
  [
    "an unknown field",
    { ...pod, spec: { containers: [{ name: "a", securityContext: { privilegd: true } }] } },
    'Pod b/a: unknown field "spec.containers[0].securityContext.privilegd"',
  ],
  [
    "an unknown version",
    { ...pod, apiVersion: "apps/v1beta1", kind: "Deployment" },
    "Deployment b/a: Deployment has no version v1beta1",
  ],
  ["no kind", { metadata: {} }, "an object has no apiVersion or no kind"],
  ["an item without a kind", { apiVersion: "v1", kind: "List", items: [{}] }, "an object has no apiVersion or no kind"],
  ["no pods", { apiVersion: "v1", kind: "ConfigMap" }, "no pods and no pod controllers"],
];
for (const [what, content, message] of invalid)
  test(`an input is an error: ${what}`, async () => {
    const file = join(directory, "object.json");
    writeFileSync(file, JSON.stringify(content));
    const { code, out, err } = await run("-f", file, "--level", "restricted");
    assert.deepEqual([code, out, err], [2, "", `Error: ${file}: ${message}\n`]);
  });

test("lists in lists are limited", async () => {
  let list: object = { apiVersion: "v1", kind: "List", items: [] };
  for (let depth = 0; depth < 17; depth++) list = { apiVersion: "v1", kind: "List", items: [list] };
  const file = join(directory, "lists.json");
  writeFileSync(file, JSON.stringify(list));
  const { code, err } = await run("-f", file, "--level", "restricted");
  assert.deepEqual([code, err], [2, `Error: ${file}: lists are nested more than 16 levels deep\n`]);
});

const invalidFlags: readonly (readonly [argv: string[], message: RegExp])[] = [
  [["-f", manifests], /required option '--level <level>' not specified/],
  [["-f", manifests, "--level", "strict"], /Allowed choices are privileged, baseline, restricted/],
  [
    ["-f", manifests, "--level", "baseline", "--version", "1.2"],
    /^Error: --version must be "latest" or "v1\.x"\nRun coxswain pod-security check --help/,
  ],
  [["--level", "baseline"], /^Error: either -f or -n is required\nRun coxswain pod-security check --help/],
  [
    ["--level", "baseline", "-f", manifests, "-n", "a"],
    /^Error: either -f or -n is required\nRun coxswain pod-security check --help/,
  ],
  [["--level", "baseline", "-f", join(testdata, "missing")], /cannot be read: no such file or directory/],
];
for (const [argv, message] of invalidFlags)
  test(`flags are an error: ${message.source}`, async () => {
    const { code, err } = await run(...argv);
    assert.equal(code, 2);
    assert.match(err, message);
  });

const template = (hostIPC: boolean): object => ({
  metadata: { labels: { app: "a" } },
  spec: { hostIPC, containers: [{ name: "a", image: "a" }] },
});
const workload = (name: string, hostIPC: boolean): object => ({
  metadata: { name },
  spec: { selector: { matchLabels: { app: "a" } }, template: template(hostIPC) },
});

test("checks the pods and pod controllers of a namespace on a server", async () => {
  const server = await startTestServer({
    admission: { enable: [], disable: ["ServiceAccount"] },
    runtimeConfig: "batch/v1/cronjobs=false",
  });
  const client = rawClient(server.kubeconfig);
  const create = async (path: string, body: object): Promise<string> => {
    const answer = await client.send({ method: "POST", path, body });
    assert.equal(answer.status, 201, JSON.stringify(answer.body));
    return answer.body.metadata.uid;
  };
  const [core, apps] = ["/api/v1/namespaces/default", "/apis/apps/v1/namespaces/default"];
  await create(`${core}/pods`, { ...template(true), metadata: { name: "bad" } });
  await create(`${core}/pods`, { ...template(false), metadata: { name: "good" } });
  const uid = await create(`${apps}/deployments`, workload("scaled-down", true));
  const owner = { apiVersion: "apps/v1", kind: "Deployment", name: "scaled-down", uid };
  for (const [name, controller] of [
    ["controlled", true],
    ["only-owned", false],
  ] as const) {
    const metadata = { name, ownerReferences: [{ ...owner, controller }] };
    await create(`${apps}/replicasets`, { ...workload(name, false), metadata });
  }
  // A reference of another kind does not hide an object.
  await create(`${apps}/daemonsets`, {
    ...workload("daemon", true),
    metadata: { name: "daemon", ownerReferences: [{ ...owner, controller: true }] },
  });
  client.close();
  const on = (...argv: string[]): Promise<RanCommand> =>
    run("--level", "baseline", "--kubeconfig", server.kubeconfigPath, ...argv);
  const { code, out, err } = await on("-n", "default");
  const empty = await on("-n", "empty");
  await server.close();
  assert.deepEqual([code, err], [1, ""]);
  assert.deepEqual(
    out.split("\n").filter((line) => !line.startsWith("  ")),
    [
      "Pod default/bad: violates 1 check",
      "Pod default/good: allowed",
      "DaemonSet default/daemon: violates 1 check",
      "Deployment default/scaled-down: violates 1 check",
      "ReplicaSet default/only-owned: allowed",
      "3 of 5 objects violate baseline:latest.",
      "",
    ],
  );
  assert.match(out, /\n {4}spec\.hostIPC is true.*\n(.*\n)* {4}spec\.template\.spec\.hostIPC is true/);
  assert.deepEqual([empty.code, empty.out], [0, "0 of 0 objects violate baseline:latest.\n"]);
});

test("fails if the user must not list one of the kinds", async () => {
  const server = await startTestServer({ authorizationModes: ["RBAC"] });
  const admin = rawClient(server.kubeconfig);
  const create = async (path: string, body: object): Promise<void> =>
    assert.equal((await admin.send({ method: "POST", path, body })).status, 201);
  const rules = [{ apiGroups: ["", "apps"], resources: ["*"], verbs: ["list"] }];
  await create("/apis/rbac.authorization.k8s.io/v1/clusterroles", { metadata: { name: "a" }, rules });
  await create("/apis/rbac.authorization.k8s.io/v1/clusterrolebindings", {
    metadata: { name: "a" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "a" },
    subjects: [{ kind: "User", name: "system:anonymous", apiGroup: "rbac.authorization.k8s.io" }],
  });
  admin.close();
  const file = join(directory, "anonymous");
  writeFileSync(file, server.kubeconfig.replace(/^ *client-(certificate|key)-data:.*\n/gm, ""));
  const { code, out, err } = await run("--level", "baseline", "--kubeconfig", file, "-n", "default");
  await server.close();
  assert.deepEqual([code, out], [2, ""]);
  assert.match(err, /^Error: cronjobs\.batch is forbidden: User "system:anonymous" cannot list resource "cronjobs"/);
});
