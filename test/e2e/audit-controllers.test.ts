/**
 * The writes of the server's own controllers in the audit log. Guarantees:
 * - each has an event with the user that the controller has in kube-controller-manager, or `system:apiserver`;
 * - the policy decides about it as about a request.
 */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { defaultAuditOptions } from "../../src/audit/options.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { until } from "../support/until.ts";

// biome-ignore lint/suspicious/noExplicitAny: tests read what they expect.
type Event = any;

const directory = mkdtempSync(join(tmpdir(), "coxswain-audit-controllers-"));
after(() => rmSync(directory, { recursive: true, force: true }));
const policyFile = join(directory, "policy.yaml");
writeFileSync(
  policyFile,
  `
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
omitManagedFields: true
rules:
- {level: None, users: ["kubernetes-admin"]}
- {level: None, resources: [{group: "", resources: [secrets], resourceNames: [unaudited]}]}
- {level: RequestResponse, resources: [{group: "", resources: [configmaps, namespaces/finalize]}]}
- {level: Metadata}
`,
);
const path = join(directory, "audit.log");

let server: TestServer;
let client: RawClient;
before(async () => {
  server = await startTestServer({
    audit: { ...defaultAuditOptions, policyFile, log: { ...defaultAuditOptions.log, path } },
    featureGates: "StorageVersionMigrator=true",
    runtimeConfig: "storagemigration.k8s.io/v1beta1=true",
  });
  client = rawClient(server.kubeconfig);
});
after(async () => {
  client.close();
  await server.close();
});

const events = (): Event[] => {
  const lines = readFileSync(path, "utf8").split("\n");
  return lines.slice(0, -1).map((line) => JSON.parse(line));
};

async function send(method: string, path: string, body?: object): Promise<void> {
  const { status, text } = await client.send({ method, path, ...(body && { body }) });
  assert.ok(status < 300, text);
}

const controller = (name: string): string => `system:serviceaccount:kube-system:${name}`;
const configMaps = "/api/v1/namespaces/default/configmaps";
const secrets = "/api/v1/namespaces/default/secrets";
const migrations = "/apis/storagemigration.k8s.io/v1beta1/storageversionmigrations";
const absentOwner = {
  apiVersion: "v1",
  kind: "ConfigMap",
  name: "absent",
  uid: "3e6dfc6e-34a1-4d68-b6d0-9f6b1d6b0b0f",
};
const migration = (resource: string) => ({ spec: { resource: { group: "", resource } } });

interface Row {
  readonly title: string;
  readonly send: readonly (readonly [method: string, path: string, body?: object])[];
  readonly event: string;
  /** `user: verb URI code` */
  readonly user: string;
  check?(event: Event): void;
}

const rows: readonly Row[] = [
  {
    title: "the garbage collector deletes a dependent",
    send: [["POST", configMaps, { metadata: { name: "orphan", ownerReferences: [absentOwner] } }]],
    user: controller("generic-garbage-collector"),
    event: `delete ${configMaps}/orphan 200`,
    check({ level, objectRef, userAgent, annotations, requestObject, responseObject, user, sourceIPs }) {
      assert.deepEqual([level, userAgent, sourceIPs], ["RequestResponse", "kube-controller-manager", undefined]);
      assert.deepEqual(objectRef, { resource: "configmaps", namespace: "default", name: "orphan", apiVersion: "v1" });
      assert.deepEqual(user.groups.slice(0, 2), ["system:serviceaccounts", "system:serviceaccounts:kube-system"]);
      assert.equal(annotations["authorization.k8s.io/decision"], "allow");
      assert.equal(requestObject.propagationPolicy, "Background");
      assert.equal(requestObject.preconditions.uid, responseObject.details.uid);
    },
  },
  {
    title: "the namespace controller deletes what a namespace has",
    send: [
      ["POST", "/api/v1/namespaces", { metadata: { name: "gone" } }],
      ["POST", "/api/v1/namespaces/gone/configmaps", { metadata: { name: "x" } }],
      ["DELETE", "/api/v1/namespaces/gone"],
    ],
    user: controller("namespace-controller"),
    event: "deletecollection /api/v1/namespaces/gone/configmaps 200",
  },
  {
    title: "the namespace controller removes its finalizer",
    send: [],
    user: controller("namespace-controller"),
    event: "update /api/v1/namespaces/gone/finalize 200",
    check({ objectRef, requestObject, responseObject }) {
      assert.deepEqual([objectRef.namespace, objectRef.name, objectRef.subresource], ["gone", "gone", "finalize"]);
      assert.deepEqual([requestObject.kind, requestObject.spec], ["Namespace", {}]);
      assert.equal(responseObject.metadata.name, "gone");
      assert.equal("managedFields" in requestObject.metadata, false);
    },
  },
  {
    title: "the storage version migrator applies nothing to an object",
    send: [
      ["POST", secrets, { metadata: { name: "migrated" } }],
      ["POST", secrets, { metadata: { name: "unaudited" } }],
      ["POST", migrations, { metadata: { name: "of-secrets" }, ...migration("secrets") }],
    ],
    user: controller("storage-version-migrator-controller"),
    event: `patch ${secrets}/migrated?fieldManager=storage-version-migrator-controller 200`,
    check({ level, requestObject, responseObject }) {
      assert.deepEqual([level, requestObject, responseObject], ["Metadata", undefined, undefined]);
      assert.equal(
        events().some(({ requestURI }) => requestURI.includes("unaudited")),
        false,
      );
    },
  },
  {
    title: "the server creates its Service at the start",
    send: [],
    user: "system:apiserver",
    event: "create /api/v1/namespaces/default/services 201",
  },
  {
    title: "the status of a definition is the server's own write",
    send: [
      [
        "POST",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions",
        {
          metadata: { name: "things.example.com" },
          spec: {
            group: "example.com",
            scope: "Cluster",
            names: { plural: "things", kind: "Thing" },
            versions: [{ name: "v1", served: true, storage: true, schema: { openAPIV3Schema: { type: "object" } } }],
          },
        },
      ],
    ],
    user: "system:apiserver",
    event: "update /apis/apiextensions.k8s.io/v1/customresourcedefinitions/things.example.com/status 200",
  },
];

const textOf = ({ verb, requestURI, responseStatus }: Event): string => `${verb} ${requestURI} ${responseStatus.code}`;

for (const row of rows) {
  test(row.title, async () => {
    for (const [method, path, body] of row.send) await send(method, path, body);
    const event = await until(() => {
      const found = events().find((one) => one.user.username === row.user && textOf(one) === row.event);
      assert.ok(
        found,
        events()
          .map((one) => `${one.user.username}: ${textOf(one)}`)
          .join("\n"),
      );
      return found;
    });
    row.check?.(event);
  });
}

test("no event is of an account that kube-apiserver does not have", () => {
  assert.deepEqual(
    events().filter(({ user }) => user.username === controller("kube-apiserver")),
    [],
  );
});
