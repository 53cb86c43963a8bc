/**
 * Tables and the errors of those that upstream does not have, request by request, and annotations
 * that its internal types have as fields. The answers are those of kube-apiserver 1.36.0.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { send } from "../../../test/support/api-client.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../../test/support/memory-registry.ts";

const table = "application/json;as=Table;g=meta.k8s.io;v=v1";
const daemonSets = "/apis/apps/v1/namespaces/n/daemonsets";
const deployments = "/apis/apps/v1/namespaces/n/deployments";
const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i" }] } };
const spec = { selector: { matchLabels: { a: "b" } }, template };
const generation = "deprecated.daemonset.template.generation";
const rollback = "deprecated.deployment.rollback.to";
const unparsed = 'strconv.ParseInt: parsing "x": invalid syntax';

let memory: MemoryRegistry;
before(async () => {
  memory = await openMemoryRegistry();
  await send(memory.registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
});
after(() => memory.close());

const withoutTables = [
  "/api/v1/namespaces/n/pods/x/ephemeralcontainers",
  "/api/v1/namespaces/n/pods/x/resize",
  "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/x/status",
  "/apis/apiregistration.k8s.io/v1/apiservices/x/status",
  "/apis/certificates.k8s.io/v1/certificatesigningrequests/x/approval",
  "/apis/resource.k8s.io/v1/namespaces/n/resourceclaims/x/status",
];
for (const path of withoutTables)
  test(`${path} is no Table`, async () => {
    const { status, body } = await send(memory.registry, `GET ${path}`, undefined, { accept: table });
    assert.deepEqual(
      [status, body.message],
      [
        406,
        "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
      ],
    );
  });

/** Rows, or names of columns, of lists. */
const lists: [path: string, columns: readonly string[], rows: unknown][] = [
  ["/api/v1/namespaces/n/limitranges", ["Name", "Created At"], null],
  ["/apis/rbac.authorization.k8s.io/v1/clusterroles", ["Name", "Created At"], null],
  ["/apis/storage.k8s.io/v1/namespaces/n/csistoragecapacities", ["Name", "Created At"], null],
  ["/api/v1/namespaces/n/configmaps", ["Name", "Data", "Age"], []],
];
for (const [path, columns, rows] of lists)
  test(`an empty list of ${path}`, async () => {
    const { body } = await send(memory.registry, `GET ${path}`, undefined, { accept: table });
    assert.deepEqual(
      body.columnDefinitions.map(({ name }: { name: string }) => name),
      columns,
    );
    assert.deepEqual(body.rows, rows);
  });

test("a rejected Accept has no warnings", async () => {
  const accept = "text/html";
  const { status, warnings } = await send(memory.registry, "GET /api/v1/namespaces/n/endpoints", undefined, { accept });
  assert.deepEqual([status, warnings], [406, ""]);
});

interface Written {
  readonly what: string;
  readonly path: string;
  readonly name: string;
  readonly annotations: Record<string, string>;
  readonly status: number;
  /** The annotations of the object, or the message. */
  readonly want: unknown;
  /** Those in its row. */
  readonly shown?: unknown;
}

const large = "z".repeat(256 * 1024 - 1);

const written: Written[] = [
  {
    what: "the generation of a template",
    path: daemonSets,
    name: "a",
    annotations: { [generation]: "007", k: "v" },
    status: 201,
    want: { [generation]: "7", k: "v" },
    shown: { k: "v" },
  },
  {
    what: "the generation does not count for the size of annotations",
    path: daemonSets,
    name: "b",
    annotations: { k: large },
    status: 201,
    want: { [generation]: "1", k: large },
    shown: { k: large },
  },
  {
    what: "a revision",
    path: deployments,
    name: "a",
    annotations: { [rollback]: "+4" },
    status: 201,
    want: { [rollback]: "4" },
  },
  {
    what: "an empty revision",
    path: deployments,
    name: "b",
    annotations: { [rollback]: "", k: "v" },
    status: 201,
    want: { k: "v" },
    shown: { k: "v" },
  },
  {
    what: "a revision that is no number",
    path: deployments,
    name: "c",
    annotations: { [rollback]: "x" },
    status: 400,
    want: `Deployment in version "v1" cannot be handled as a Deployment: failed to parse annotation[${rollback}]=x as int64: ${unparsed}`,
  },
  {
    what: "a negative revision",
    path: deployments,
    name: "d",
    annotations: { [rollback]: "-5" },
    status: 422,
    want: 'Deployment.apps "d" is invalid: spec.rollback.version: Invalid value: -5: must be greater than or equal to 0',
  },
];
for (const { what, path, name, annotations, status, want, shown } of written)
  test(`${what} is an annotation of the object alone`, async () => {
    const { registry } = memory;
    const answer = await send(registry, `POST ${path}`, { metadata: { name, annotations }, spec });
    assert.deepEqual([answer.status, answer.body.message ?? answer.body.metadata.annotations], [status, want]);
    if (status !== 201) return;
    const row = await send(registry, `GET ${path}/${name}`, undefined, { accept: table });
    assert.deepEqual(row.body.rows[0].object.metadata.annotations, shown);
    const partial = await send(registry, `GET ${path}/${name}`, undefined, {
      accept: table.replace("Table", "PartialObjectMetadata"),
    });
    assert.deepEqual(partial.body.metadata.annotations, shown);
  });

test("annotations of another version are not in its Tables", async () => {
  const { registry } = memory;
  const resource = { name: "memory", target: { type: "Utilization", averageUtilization: 3 } };
  await send(registry, "POST /apis/autoscaling/v2/namespaces/n/horizontalpodautoscalers", {
    metadata: { name: "h" },
    spec: {
      maxReplicas: 3,
      scaleTargetRef: { kind: "D", name: "d", apiVersion: "apps/v1" },
      metrics: [{ type: "Resource", resource }],
    },
  });
  const path = "/apis/autoscaling/v1/namespaces/n/horizontalpodautoscalers/h";
  assert.ok("annotations" in (await send(registry, `GET ${path}`)).body.metadata);
  const { body } = await send(registry, `GET ${path}`, undefined, { accept: table });
  assert.ok(!("annotations" in body.rows[0].object.metadata));
});
