/**
 * Audit logs over the wire: a server with a policy writes a log, and tests read it line by line.
 */
import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { AuditLogOptions } from "../../src/audit/contract.ts";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { builtinSchema } from "../../src/catalog/builtin-schemas.ts";
import { encodeAnyCbor } from "../../src/lib/cbor/encode.ts";
import { encodeProtobuf } from "../../src/lib/protobuf/encode.ts";
import { wrapInEnvelope } from "../../src/lib/protobuf/envelope.ts";
import { skipWithout } from "../support/needs.ts";
import { main } from "../support/program.ts";
import { type RawClient, type RawRequest, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Event = any;

const directory = mkdtempSync(join(tmpdir(), "coxswain-audit-"));
after(() => rmSync(directory, { recursive: true, force: true }));

const policyFile = join(directory, "policy.yaml");
writeFileSync(
  policyFile,
  `
apiVersion: audit.k8s.io/v1
kind: Policy
rules:
- {level: None, nonResourceURLs: ["/healthz*"]}
- {level: Request, omitStages: [RequestReceived], namespaces: [tokens]}
- {level: Metadata, resources: [{group: "", resources: [secrets, serviceaccounts/token]}]}
- {level: Request, omitStages: [RequestReceived], resources: [{group: "", resources: [services]}]}
- {level: RequestResponse, omitStages: [RequestReceived], resources: [{group: "", resources: [configmaps]}]}
- {level: RequestResponse, omitStages: [RequestReceived], omitManagedFields: true, resources: [{group: apps}]}
- {level: Metadata}
`,
);

const configMaps = "/api/v1/namespaces/default/configmaps";
const auditing = (log: Partial<AuditLogOptions>): typeof defaultAuditOptions => ({
  ...defaultAuditOptions,
  policyFile,
  log: { ...defaultAuditOptions.log, ...log },
});

function eventsIn(path: string): Event[] {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line));
}

describe("audit events", () => {
  const path = join(directory, "logs", "audit.log");
  let server: TestServer;
  let admin: RawClient;
  let requests = 0;

  before(async () => {
    server = await startTestServer({ audit: auditing({ path }), featureGates: "CBORServingAndStorage=true" });
    admin = rawClient(server.kubeconfig);
  });
  after(async () => {
    admin.close();
    await server.close();
  });

  /** @returns the request's events; in blocking mode they are written before its answer is sent */
  async function eventsOf(request: RawRequest, client = admin): Promise<Event[]> {
    const id = `request-${requests++}`;
    const answer = await client.send({
      ...request,
      headers: { "user-agent": "tester", ...request.headers, "audit-id": id },
    });
    assert.equal(answer.headers["audit-id"], id);
    return eventsIn(path).filter(({ auditID }) => auditID === id);
  }

  async function lastOf(request: RawRequest, client = admin): Promise<Event> {
    return (await eventsOf(request, client)).at(-1);
  }

  test("a line has upstream's fields in upstream's order", async () => {
    const [received, complete, ...rest] = await eventsOf({
      path: "/api/v1/namespaces/default?pretty=1",
      headers: { "x-forwarded-for": "10.1.2.3, x, ::FFFF:10.0.0.9", "x-real-ip": "10.1.2.3" },
    });
    assert.deepEqual(rest, []);
    assert.equal(received.stage, "RequestReceived");
    assert.equal(received.requestReceivedTimestamp, received.stageTimestamp);
    assert.equal("responseStatus" in received || "annotations" in received, false);
    const { requestReceivedTimestamp, stageTimestamp, user, auditID, ...fixed } = complete;
    assert.match(requestReceivedTimestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    assert.ok(stageTimestamp >= requestReceivedTimestamp && auditID !== "");
    assert.deepEqual([user.username, user.groups], ["kubernetes-admin", ["system:masters", "system:authenticated"]]);
    assert.deepEqual(fixed, {
      kind: "Event",
      apiVersion: "audit.k8s.io/v1",
      level: "Metadata",
      stage: "ResponseComplete",
      requestURI: "/api/v1/namespaces/default?pretty=1",
      verb: "get",
      sourceIPs: ["10.1.2.3", "10.0.0.9", "127.0.0.1"],
      userAgent: "tester",
      objectRef: { resource: "namespaces", namespace: "default", name: "default", apiVersion: "v1" },
      responseStatus: { metadata: {}, code: 200 },
      annotations: { "authorization.k8s.io/decision": "allow", "authorization.k8s.io/reason": "" },
    });
    const order =
      "kind apiVersion level auditID stage requestURI verb user sourceIPs userAgent objectRef responseStatus requestReceivedTimestamp stageTimestamp annotations";
    assert.equal(Object.keys(complete).join(" "), order);
  });

  const sent = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "x" }, data: { k: "<v>" } };
  const schema = builtinSchema("io.k8s.api.core.v1.ConfigMap");
  const bodies: [type: string, encode: (object: typeof sent) => string | Buffer][] = [
    ["application/json", (object) => JSON.stringify(object)],
    [
      "application/yaml",
      ({ metadata }) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${metadata.name}}\ndata: {k: <v>}\n`,
    ],
    [
      "application/vnd.kubernetes.protobuf",
      (object) => wrapInEnvelope("v1", "ConfigMap", encodeProtobuf(object, schema)),
    ],
    ["application/cbor", (object) => encodeAnyCbor(object)],
  ];
  for (const [index, [type, encode]] of bodies.entries()) {
    test(`RequestResponse records a create in ${type} and its answer in JSON`, async () => {
      const object = { ...sent, metadata: { name: `map-${index}` } };
      const event = await lastOf({
        method: "POST",
        path: configMaps,
        headers: { "content-type": type, accept: type },
        body: encode(object),
      });
      assert.equal(event.responseStatus.code, 201);
      assert.equal(event.objectRef.name, object.metadata.name);
      assert.deepEqual(event.requestObject, object);
      assert.deepEqual([event.responseObject.kind, event.responseObject.data], ["ConfigMap", sent.data]);
      assert.ok(event.responseObject.metadata.managedFields.length > 0);
    });
    test(`RequestResponse records a list and a Table that are requested in ${type}`, async () => {
      const listed = await lastOf({ path: configMaps, headers: { accept: type } });
      assert.equal(listed.responseObject.kind, "ConfigMapList");
      assert.ok(listed.responseObject.items.length > index);
      const table = await lastOf({
        path: configMaps,
        headers: { accept: "application/json;as=Table;v=v1;g=meta.k8s.io" },
      });
      assert.equal(table.responseObject.kind, "Table");
    });
  }

  const patches: [type: string, body: string | Buffer, want: unknown][] = [
    [
      "application/json-patch+json",
      '[ {"op": "add", "path": "/data/a", "value": "1"} ]',
      [{ op: "add", path: "/data/a", value: "1" }],
    ],
    ["application/merge-patch+json", '{"data": {"a": "2"}}', { data: { a: "2" } }],
    [
      "application/apply-patch+yaml",
      "apiVersion: v1\nkind: ConfigMap\ndata: {b: '1'}\n",
      { apiVersion: "v1", data: { b: "1" }, kind: "ConfigMap" },
    ],
    [
      "application/apply-patch+cbor",
      encodeAnyCbor({ apiVersion: "v1", kind: "ConfigMap", data: { b: "1" } }),
      { apiVersion: "v1", data: { b: "1" }, kind: "ConfigMap" },
    ],
  ];
  for (const [type, body, want] of patches) {
    test(`records a patch as it was sent: ${type}`, async () => {
      const event = await lastOf({
        method: "PATCH",
        path: `${configMaps}/map-0?fieldManager=m`,
        headers: { "content-type": type },
        body,
      });
      assert.deepEqual([event.responseStatus.code, event.requestObject], [200, want]);
    });
  }

  test("records the Status of a patch whose body is not JSON", async () => {
    const event = await lastOf({
      method: "PATCH",
      path: `${configMaps}/map-0`,
      headers: { "content-type": "application/merge-patch+json" },
      body: "{",
    });
    assert.deepEqual(
      [event.responseStatus.code, event.responseStatus.status, "requestObject" in event],
      [400, "Failure", false],
    );
  });

  test("records the options of a deletion and the Status of its answer", async () => {
    const event = await lastOf({ method: "DELETE", path: `${configMaps}/map-1`, body: { gracePeriodSeconds: 0 } });
    const options = { kind: "DeleteOptions", apiVersion: "meta.k8s.io/__internal" };
    assert.deepEqual(event.requestObject, { ...options, gracePeriodSeconds: 0 });
    assert.deepEqual(
      [event.responseStatus.status, event.responseStatus.details.kind, event.responseObject.kind],
      ["Success", "configmaps", "Status"],
    );
    const many = await lastOf({ method: "DELETE", path: configMaps });
    assert.deepEqual([many.verb, many.responseObject.kind], ["deletecollection", "ConfigMapList"]);
    for (const path of [`${configMaps}/map-2`, configMaps]) {
      const invalid = await lastOf({ method: "DELETE", path, body: { propagationPolicy: "Nope" } });
      assert.deepEqual(
        [invalid.responseStatus.code, invalid.requestObject],
        [422, { ...options, propagationPolicy: "Nope" }],
      );
    }
  });

  test("records a TokenRequest with defaults", async () => {
    const path = "/api/v1/namespaces/tokens/serviceaccounts/absent/token";
    const { responseStatus, requestObject } = await lastOf({ method: "POST", path, body: {} });
    assert.deepEqual([responseStatus.code, requestObject.spec.expirationSeconds], [404, 3600]);
  });

  test("omits managed fields where the policy says so, and records defaults", async () => {
    const path = "/apis/apps/v1/namespaces/default/deployments";
    const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
    const body = {
      apiVersion: "apps/v1",
      kind: "Deployment",
      metadata: { name: "d" },
      spec: { selector: { matchLabels: { a: "b" } }, template },
    };
    const { requestObject, responseObject } = await lastOf({ method: "POST", path, body });
    assert.equal(requestObject.spec.replicas, 1);
    assert.equal(responseObject.spec.replicas, 1);
    assert.equal("managedFields" in responseObject.metadata, false);
    const { responseObject: list } = await lastOf({ path });
    assert.equal("managedFields" in list.items[0].metadata, false);
  });

  test("Request records no answer", async () => {
    const event = await lastOf({
      method: "POST",
      path: "/api/v1/namespaces/default/services",
      body: { metadata: { generateName: "s-" }, spec: { ports: [{ port: 1 }] } },
    });
    assert.equal(event.requestObject.spec.ports[0].protocol, "TCP");
    assert.deepEqual(["responseObject" in event, event.objectRef.name], [false, undefined]);
  });

  test("Metadata records no contents of secrets", async () => {
    const secret = "c2VjcmV0LXRleHQ=";
    await eventsOf({
      method: "POST",
      path: "/api/v1/namespaces/default/secrets",
      body: { metadata: { name: "s" }, data: { k: secret } },
    });
    await eventsOf({
      method: "PATCH",
      path: "/api/v1/namespaces/default/secrets/s",
      headers: { "content-type": "application/merge-patch+json" },
      body: { data: { k: secret } },
    });
    const event = await lastOf({ path: "/api/v1/namespaces/default/secrets/s" });
    assert.deepEqual(event.responseStatus, { metadata: {}, code: 200 });
    assert.equal(readFileSync(path, "utf8").includes(secret), false);
  });

  test("records a request that the authorizer denies", async () => {
    const event = await lastOf({ path: `${configMaps}/x`, anonymous: true });
    const message =
      'configmaps "x" is forbidden: User "system:anonymous" cannot get resource "configmaps" in API group "" in the namespace "default"';
    assert.deepEqual(event.user, { username: "system:anonymous", groups: ["system:unauthenticated"] });
    assert.deepEqual(event.responseStatus, {
      metadata: {},
      status: "Failure",
      message,
      reason: "Forbidden",
      details: { name: "x", kind: "configmaps" },
      code: 403,
    });
    assert.equal(event.annotations["authorization.k8s.io/decision"], "forbid");
  });

  test("records one event without a user for a request that is not authenticated", async () => {
    const [event, ...rest] = await eventsOf({
      path: "/version",
      headers: { authorization: "Bearer wrong" },
      anonymous: true,
    });
    assert.deepEqual([rest, event.stage, event.user], [[], "ResponseStarted", {}]);
    assert.deepEqual(event.responseStatus, {
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
  });

  test("records both users of an impersonation", async () => {
    const event = await lastOf({
      path: "/version",
      headers: { "impersonate-user": "bob", "impersonate-group": "dev" },
    });
    assert.equal(event.user.username, "kubernetes-admin");
    assert.deepEqual(event.impersonatedUser, { username: "bob", groups: ["dev", "system:authenticated"] });
    assert.deepEqual(event.authenticationMetadata, { impersonationConstraint: "impersonate:user-info" });
    const ann = rawClient((await server.as("ann")).kubeconfig);
    const denied = await lastOf({ path: "/version", headers: { "impersonate-user": "bob" } }, ann);
    ann.close();
    assert.deepEqual(
      [denied.user.username, denied.impersonatedUser, denied.responseStatus.code],
      ["ann", undefined, 403],
    );
  });

  test("records the start and the end of a watch", async () => {
    const events = await eventsOf({ path: `${configMaps}?watch=1&timeoutSeconds=1` });
    assert.deepEqual(
      events.map(({ stage, verb, responseStatus: { code } }) => [stage, verb, code]),
      [
        ["ResponseStarted", "watch", 200],
        ["ResponseComplete", "watch", 200],
      ],
    );
  });

  test("annotates requests of a deprecated version", async () => {
    const { annotations } = await lastOf({ path: "/api/v1/namespaces/default/endpoints" });
    assert.equal(annotations["k8s.io/deprecated"], "true");
    const events = await eventsOf({ path: "/api/v1/namespaces/default/endpoints?watch=1&timeoutSeconds=1" });
    assert.deepEqual(
      events.map((event) => [event.stage, event.annotations?.["k8s.io/deprecated"]]),
      [
        ["RequestReceived", undefined],
        ["ResponseStarted", "true"],
        ["ResponseComplete", "true"],
      ],
    );
  });

  test("times are milliseconds with the digits of microseconds", async () => {
    const { requestReceivedTimestamp, stageTimestamp } = await lastOf({ path: "/version" });
    for (const time of [requestReceivedTimestamp, stageTimestamp])
      assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}000Z$/);
  });

  test("an Audit-ID that is missing, too long or has invalid characters is replaced", async () => {
    for (const sent of ["x".repeat(65), "a b", undefined]) {
      const answer = await admin.send({ path: "/version", headers: sent === undefined ? {} : { "audit-id": sent } });
      const id = answer.headers["audit-id"] as string;
      assert.match(id, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      assert.equal(eventsIn(path).filter(({ auditID }) => auditID === id).length, 2);
    }
    assert.equal((await eventsOf({ path: "/version", headers: {} })).length, 2);
  });

  test("records paths, and nothing of those that the policy omits", async () => {
    assert.deepEqual(await eventsOf({ path: "/healthz" }), []);
    const event = await lastOf({ path: "/nowhere?a=%20b" });
    assert.deepEqual(
      [event.requestURI, event.verb, event.responseStatus, event.objectRef],
      ["/nowhere?a=%20b", "get", { metadata: {}, code: 404 }, undefined],
    );
  });

  test("metrics count events, levels and rejected requests", async () => {
    const { text } = await admin.send({ path: "/metrics" });
    const counted = (series: string): number =>
      Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`apiserver_audit_${series} `))
          ?.split(" ")[1],
      );
    assert.equal(counted("event_total"), eventsIn(path).length - 1); // The event of this request is written later.
    assert.equal(counted('level_total{level="None"}'), 1);
    assert.ok(counted('level_total{level="RequestResponse"}') > 10);
    assert.equal(counted("requests_rejected_total"), 0);
  });
});

const full = skipWithout("linux");

for (const [mode, status] of [
  ["blocking", 200],
  ["batch", 200],
  ["blocking-strict", 500],
] as const) {
  test(`on a full disk, mode ${mode} answers ${status} and counts lost events`, {
    skip: full,
  }, async () => {
    const server = await startTestServer({ audit: auditing({ path: "/dev/full", mode }) });
    const admin = rawClient(server.kubeconfig);
    const answer = await admin.send({ path: "/api/v1/namespaces/default" });
    assert.equal(answer.status, status);
    if (status === 500) assert.match(answer.body.message, /failed to store audit event$/);
    const counted = async (): Promise<boolean> =>
      /apiserver_audit_error_total\{plugin="log"\} [1-9]/.test((await admin.send({ path: "/metrics" })).text);
    if (status === 200) await until(counted); // Batch mode notices it later.
    admin.close();
    await server.close();
  });
}

test("the log has every answered request after kill -9, and the next server appends to it", async () => {
  const path = join(directory, "killed.log");
  const data = join(directory, "data");
  const flags = [
    "--data-dir",
    data,
    "--secure-port=0",
    "--storage=memory",
    `--audit-policy-file=${policyFile}`,
    `--audit-log-path=${path}`,
  ];
  const answered: string[] = [];
  for (let round = 0; round < 2; round++) {
    const child = await started(flags, join(data, "kubeconfig"));
    const client = rawClient(readFileSync(join(data, "kubeconfig"), "utf8"));
    const writers = Array.from({ length: 4 }, async (_, writer) => {
      for (let count = 0; ; count++) {
        const id = `${round}-${writer}-${count}`;
        await client.send({
          method: "POST",
          path: configMaps,
          headers: { "audit-id": id },
          body: { metadata: { generateName: "a-" } },
        });
        answered.push(id);
        if (answered.length === (round + 1) * 40) child.kill("SIGKILL");
      }
    });
    const outcomes = await Promise.allSettled(writers);
    assert.ok(outcomes.every(({ status }) => status === "rejected"));
    client.close();
  }
  const complete = new Set(
    eventsIn(path)
      .filter(({ stage }) => stage === "ResponseComplete")
      .map(({ auditID }) => auditID),
  );
  assert.deepEqual(
    answered.filter((id) => !complete.has(id)),
    [],
  );
});

test("in batch mode, the log has whole lines in order after kill -9", async () => {
  const path = join(directory, "batch-killed.log");
  const data = join(directory, "batch-data");
  const flags = [
    "--data-dir",
    data,
    "--secure-port=0",
    "--storage=memory",
    "--audit-log-mode=batch",
    `--audit-policy-file=${policyFile}`,
  ];
  const child = await started([...flags, `--audit-log-path=${path}`], join(data, "kubeconfig"));
  const client = rawClient(readFileSync(join(data, "kubeconfig"), "utf8"));
  for (let count = 0; count < 50; count++)
    await client.send({ path: configMaps, headers: { "audit-id": `in-order-${count}` } });
  const written = (): string[] =>
    eventsIn(path)
      .map(({ auditID }) => auditID)
      .filter((id) => id.startsWith("in-order"));
  await until(() => written().length >= 40);
  child.kill("SIGKILL");
  await new Promise((resolve) => child.once("exit", resolve));
  client.close();
  const ids = written();
  assert.deepEqual(
    ids,
    ids.map((_, index) => `in-order-${index}`),
  );
});

test("in batch mode, a server starts, answers and ends while no process reads the pipe that is its log", {
  skip: skipWithout("shell"),
}, async () => {
  const data = join(directory, "pipe-data");
  const path = join(directory, "pipe");
  execFileSync("mkfifo", [path]);
  const flags = [
    "--data-dir",
    data,
    "--secure-port=0",
    "--storage=memory",
    "--audit-log-mode=batch",
    "--audit-log-batch-buffer-size=10",
  ];
  const child = await started(
    [...flags, `--audit-policy-file=${policyFile}`, `--audit-log-path=${path}`],
    join(data, "kubeconfig"),
  );
  const client = rawClient(readFileSync(join(data, "kubeconfig"), "utf8"));
  const body = { metadata: { generateName: "a-" }, data: { k: "x".repeat(10_000) } };
  for (let count = 0; count < 30; count++)
    assert.equal((await client.send({ method: "POST", path: configMaps, body })).status, 201);
  assert.match(
    (await client.send({ path: "/metrics" })).text,
    /apiserver_audit_error_total\{plugin="buffered"\} [1-9]/,
  );
  client.close();
  child.kill("SIGTERM");
  assert.equal(await new Promise((resolve) => child.once("exit", resolve)), 0);
});

/** Starts the command and waits until it serves. */
function started(flags: readonly string[], kubeconfig: string): Promise<ChildProcess> {
  const child = spawn(process.execPath, [main, ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  return new Promise((resolve, reject) => {
    const listen = (piece: Buffer): void => {
      output += piece.toString();
      if (output.includes(kubeconfig)) resolve(child);
    };
    child.stdout.on("data", listen);
    child.stderr.on("data", listen);
    child.once("exit", () => reject(new Error(output)));
  });
}
