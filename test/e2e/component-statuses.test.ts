/**
 * ComponentStatus, as kube-apiserver 1.36.0 answers on a machine without a scheduler and a
 * controller manager.
 */
import assert from "node:assert/strict";
import { basename } from "node:path";
import { describe, test } from "node:test";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import type { RawRequest } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const path = "/api/v1/componentstatuses";
const connectionRefused = (port: number): string =>
  `Get "https://127.0.0.1:${port}/healthz": dial tcp 127.0.0.1:${port}: connect: connection refused`;
const status = (name: string, message: string, healthy: boolean): object => ({
  metadata: { name },
  conditions: [{ type: "Healthy", status: healthy ? "True" : "False", message }],
});
const controllerManager = status("controller-manager", connectionRefused(10257), false);
const etcd = status("etcd-0", "ok", true);
const scheduler = status("scheduler", connectionRefused(10259), false);
const list = (...items: object[]): object => ({ kind: "ComponentStatusList", apiVersion: "v1", metadata: {}, items });
const one = (component: object): object => ({ kind: "ComponentStatus", apiVersion: "v1", ...component });
const failure = (code: number, reason: string, message: string, details?: object): object => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  reason,
  ...(details && { details }),
  code,
});
const notAllowed = failure(
  405,
  "MethodNotAllowed",
  "the server does not allow this method on the requested resource",
  {},
);
const notFound = failure(404, "NotFound", "the server could not find the requested resource", {});
const noWatch = failure(405, "MethodNotAllowed", 'watch is not supported on resources of kind "componentstatuses"', {
  kind: "componentstatuses",
});
const unknownField = failure(
  400,
  "BadRequest",
  '"x" is not a known field selector: only "metadata.name", "metadata.namespace"',
);
const accept = (form: string): Record<string, string> => ({ accept: `application/json;as=${form};v=v1;g=meta.k8s.io` });
const partial = (name: string): object => ({
  kind: "PartialObjectMetadata",
  apiVersion: "meta.k8s.io/v1",
  metadata: { name },
});
const unfit = (message: string): object => failure(406, "NotAcceptable", `you requested ${message}`);

const rows: [request: string | RawRequest, code: number, body: object][] = [
  [path, 200, list(controllerManager, etcd, scheduler)],
  [`${path}?limit=1&resourceVersion=abc&continue=abc`, 200, list(controllerManager, etcd, scheduler)],
  [`${path}/etcd-0`, 200, one(etcd)],
  [`${path}/scheduler?resourceVersion=abc`, 200, one(scheduler)],
  [
    `${path}/nope`,
    404,
    failure(404, "NotFound", 'componentstatus "nope" not found', { name: "nope", kind: "componentstatus" }),
  ],
  [`${path}?labelSelector=a%3Db`, 200, list()],
  [`${path}?labelSelector=!a`, 200, list(controllerManager, etcd, scheduler)],
  [`${path}?fieldSelector=metadata.name%3Detcd-0`, 200, list(etcd)],
  [`${path}?fieldSelector=metadata.name!%3Detcd-0,metadata.name!%3Dscheduler`, 200, list(controllerManager)],
  [`${path}?fieldSelector=metadata.namespace%3D`, 200, list(controllerManager, etcd, scheduler)],
  [`${path}?fieldSelector=metadata.namespace%3Dx`, 200, list()],
  [`${path}?fieldSelector=x%3Dy`, 400, unknownField],
  [`${path}?limit=abc`, 400, failure(400, "BadRequest", 'strconv.ParseInt: parsing "abc": invalid syntax')],
  [`${path}?watch=1&resourceVersion=abc`, 405, noWatch],
  [`${path}?watch=1&fieldSelector=x%3Dy`, 400, unknownField],
  [`${path}/etcd-0?watch=1`, 405, noWatch],
  ["/api/v1/watch/componentstatuses", 404, notFound],
  ["/api/v1/watch/componentstatuses/etcd-0", 404, notFound],
  ["/api/v1/namespaces/default/componentstatuses", 404, notFound],
  [`${path}/etcd-0/status`, 404, notFound],
  [{ method: "POST", path, body: {} }, 405, notAllowed],
  [{ method: "DELETE", path }, 405, notAllowed],
  [{ method: "PUT", path: `${path}/etcd-0`, body: {} }, 405, notAllowed],
  [{ method: "PATCH", path: `${path}/etcd-0`, body: {} }, 405, notAllowed],
  [{ method: "DELETE", path: `${path}/etcd-0` }, 405, notAllowed],
  [{ path: `${path}/etcd-0`, headers: accept("PartialObjectMetadata") }, 200, partial("etcd-0")],
  [
    { path, headers: accept("PartialObjectMetadataList") },
    200,
    {
      kind: "PartialObjectMetadataList",
      apiVersion: "meta.k8s.io/v1",
      metadata: {},
      items: [partial("controller-manager"), partial("etcd-0"), partial("scheduler")],
    },
  ],
  [
    { path: `${path}?labelSelector=a`, headers: accept("PartialObjectMetadataList") },
    200,
    { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata: {}, items: null },
  ],
  [
    { path, headers: accept("PartialObjectMetadata") },
    406,
    unfit("PartialObjectMetadata, but the requested object is a list (*core.ComponentStatusList)"),
  ],
  [
    { path: `${path}/etcd-0`, headers: accept("PartialObjectMetadataList") },
    406,
    unfit("PartialObjectMetadataList, but the requested object is not a list (*core.ComponentStatus)"),
  ],
];

const { server, client } = await startServerWithClient();

describe("component statuses", () => {
  for (const [request, code, body] of rows) {
    const sent = typeof request === "string" ? { path: request } : request;
    test(`answers ${code} to ${sent.method ?? "GET"} ${sent.path} ${sent.headers?.accept ?? ""}`, async () => {
      const answer = await client.send(sent);
      assert.equal(JSON.stringify(answer.body), JSON.stringify(body));
      assert.equal(answer.status, code);
    });
  }

  test("answers warn that the kind is deprecated", async () => {
    for (const at of [path, `${path}/etcd-0`, `${path}/nope`, `${path}?watch=1`]) {
      const { headers } = await client.send({ path: at });
      assert.equal(headers.warning, '299 - "v1 ComponentStatus is deprecated in v1.19+"', at);
    }
    assert.equal((await client.send({ method: "DELETE", path })).headers.warning, undefined);
  });

  test("a Table has a row for each component", async () => {
    const { body } = await client.send({ path, headers: accept("Table") });
    assert.deepEqual(
      body.columnDefinitions.map(({ name, priority }: { name: string; priority: number }) => [name, priority]),
      ["Name", "Status", "Message", "Error"].map((name) => [name, 0]),
    );
    assert.deepEqual(body.metadata, {});
    assert.deepEqual(
      body.rows.map(({ cells }: { cells: unknown[] }) => cells),
      [
        ["controller-manager", "Unhealthy", connectionRefused(10257), ""],
        ["etcd-0", "Healthy", "ok", ""],
        ["scheduler", "Unhealthy", connectionRefused(10259), ""],
      ],
    );
    assert.deepEqual(body.rows[1].object, partial("etcd-0"));
    const single = await client.send({ path: `${path}/etcd-0?includeObject=Object`, headers: accept("Table") });
    assert.deepEqual(single.body.rows[0].object, one(etcd));
  });

  test("answers in YAML and protobuf", async () => {
    const yaml = await client.send({ path: `${path}/etcd-0`, headers: { accept: "application/yaml" } });
    const lines = [
      "apiVersion: v1",
      "conditions:",
      "- message: ok",
      '  status: "True"',
      "  type: Healthy",
      "kind: ComponentStatus",
      "metadata:",
    ];
    assert.equal(yaml.text, `${lines.join("\n")}\n  name: etcd-0\n`);
    const headers = { accept: "application/vnd.kubernetes.protobuf" };
    const { bytes } = await client.send({ path: `${path}?fieldSelector=metadata.name%3Detcd-0`, headers });
    // Recorded from kube-apiserver 1.36.0.
    const item = "0a160a06657463642d3012001a0022002a0032003800420012150a074865616c746879120454727565" + "1a026f6b2200";
    const type = "6b3873000a190a0276311213436f6d706f6e656e745374617475734c697374";
    assert.equal(bytes.toString("hex"), `${type}12390a060a0012001a00122f${item}1a002200`);
  });

  test("answers concurrent requests", async () => {
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.send({ path })));
    for (const answer of answers) assert.deepEqual(answer.body, list(controllerManager, etcd, scheduler));
  });

  for (const kubectl of kubectls()) {
    test(`${basename(kubectl)} get cs prints the components`, async () => {
      const { output } = await runKubectl(kubectl, ["get", "cs"], server);
      const rows = output.split("\n").map((line) => line.split(/ {2,}/).slice(0, 2).join(" "));
      assert.deepEqual(rows, [
        "NAME STATUS",
        "controller-manager Unhealthy",
        "etcd-0 Healthy",
        "scheduler Unhealthy",
        "Warning: v1 ComponentStatus is deprecated in v1.19+",
      ]);
    });
  }
});
