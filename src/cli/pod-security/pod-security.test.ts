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
  runCommand((output) => podSecurityCommand(["check", ...argv], output, {}));

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
  [["-f", manifests, "--level", "baseline", "--version", "1.2"], /^Error: --version must be "latest" or "v1\.x"\n$/],
  [["--level", "baseline"], /^Error: either -f or -n is required\n$/],
  [["--level", "baseline", "-f", manifests, "-n", "a"], /^Error: either -f or -n is required\n$/],
  [["--level", "baseline", "-f", join(testdata, "missing")], /cannot be read: ENOENT/],
];
for (const [argv, message] of invalidFlags)
  test(`flags are an error: ${message.source}`, async () => {
    const { code, err } = await run(...argv);
    assert.equal(code, 2);
    assert.match(err, message);
  });

test("checks the pods of a namespace on a server", async () => {
  const server = await startTestServer({ admission: { enable: [], disable: ["ServiceAccount"] } });
  const client = rawClient(server.kubeconfig);
  for (const [name, hostIPC] of [
    ["bad", true],
    ["good", false],
  ] as const) {
    const body = { metadata: { name }, spec: { hostIPC, containers: [{ name: "a", image: "a" }] } };
    await client.send({ method: "POST", path: "/api/v1/namespaces/default/pods", body });
  }
  client.close();
  const on = (...argv: string[]): Promise<RanCommand> =>
    run("--level", "baseline", "--kubeconfig", server.kubeconfigPath, ...argv);
  const { code, out } = await on("-n", "default");
  const empty = await on("-n", "empty");
  await server.close();
  assert.equal(code, 1);
  assert.match(
    out,
    /^Pod default\/bad: violates 1 check\n {2}hostNamespaces: .*\n {4}spec\.hostIPC is true.*\nPod default\/good: allowed\n1 of 2 /,
  );
  assert.deepEqual([empty.code, empty.out], [0, "0 of 0 objects violate baseline:latest.\n"]);
});
