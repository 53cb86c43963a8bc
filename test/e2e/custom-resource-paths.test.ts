/**
 * Every method on every shape of path below custom kinds, with bodies of writes, compared with the
 * answers of a kube-apiserver (tools/golden/server/custom-resource-paths.ts).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { rawClient } from "../support/raw-client.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { eventually } from "../support/until.ts";
import { type PathRow, sendPathRequests } from "./custom-resources/paths.ts";

const file = new URL("custom-resources/testdata/paths.json.gz", import.meta.url);
const recorded: readonly PathRow[] = JSON.parse(gunzipSync(readFileSync(file)).toString());

const { server, client } = await startServerWithClient();

test("every path below custom kinds has kube-apiserver's answer", async () => {
  const rows = await sendPathRequests(async (line, body, sent) => {
    const [method = "", path = ""] = line.split(" ");
    const request = {
      method,
      path,
      headers: { "content-type": "application/json", ...sent },
      ...(body !== undefined && { body }),
    };
    const { status, headers, text } = await client.send(request);
    return {
      status,
      contentType: String(headers["content-type"] ?? ""),
      warnings: [headers.warning ?? []].flat().join(", "),
      text,
    };
  });
  assert.equal(rows.length, recorded.length);
  const differing = rows.flatMap((row, index) =>
    JSON.stringify(row) === JSON.stringify(recorded[index]) ? [] : [[row, recorded[index]]],
  );
  assert.deepEqual(differing, []);
});

const rbac = "/apis/rbac.authorization.k8s.io/v1/namespaces/paths";
const wholes = "/apis/paths.example.com/v1/namespaces/paths/wholes";

/** Answers to a user with permission to watch and to create objects with the name `b`. */
const rights: readonly (readonly [line: string, status: number])[] = [
  [`POST ${wholes}/b?dryRun=All`, 201],
  [`POST ${wholes}/c?dryRun=All`, 403],
  [`POST ${wholes}?dryRun=All`, 403],
  [`PUT ${wholes}?dryRun=All`, 403],
  [`POST ${wholes}/b/status?dryRun=All`, 403],
  [`HEAD ${wholes}/a`, 403],
  [`POST /apis/paths.example.com/v1/watch/namespaces/paths/wholes?timeoutSeconds=1`, 200],
];

test("a POST to a name requires permission to create that name, and a POST below /watch/ to watch", async () => {
  const rules = [
    { apiGroups: ["paths.example.com"], resources: ["wholes"], resourceNames: ["b"], verbs: ["create"] },
    { apiGroups: ["paths.example.com"], resources: ["wholes"], verbs: ["watch"] },
  ];
  await client.send({ method: "POST", path: `${rbac}/roles`, body: { metadata: { name: "b" }, rules } });
  const binding = {
    metadata: { name: "b" },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "b" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: "ann" }],
  };
  await client.send({ method: "POST", path: `${rbac}/rolebindings`, body: binding });
  const ann = rawClient((await server.as("ann")).kubeconfig);
  const body = { apiVersion: "paths.example.com/v1", kind: "Whole", metadata: { name: "b" }, spec: {} };
  for (const [line, expected] of rights) {
    const [method = "", path = ""] = line.split(" ");
    const { status } = await ann.send({ method, path, ...(method !== "HEAD" && { body }) });
    assert.equal(status, expected, line);
  }
  ann.close();
});

/** Answers of kube-apiserver 1.36.0 below a built-in group with a definition of two versions. */
const shadowed: readonly (readonly [path: string, status: number, names: readonly string[] | undefined])[] = [
  ["v1", 200, ["runtimeclasses"]],
  ["v9", 404, undefined],
  ["v1/ships", 404, undefined],
  ["v9/ships", 404, undefined],
  ["v9/ships/x", 404, undefined],
];

test("a built-in group serves no custom resources", async () => {
  const schema = { openAPIV3Schema: { type: "object" } };
  const body = {
    metadata: { name: "ships.node.k8s.io", annotations: { "api-approved.kubernetes.io": "unapproved, for tests" } },
    spec: {
      group: "node.k8s.io",
      scope: "Cluster",
      names: { plural: "ships", kind: "Ship" },
      versions: [
        { name: "v1", served: true, storage: true, schema },
        { name: "v9", served: true, storage: false, schema },
      ],
    },
  };
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  await client.send({ method: "POST", path: definitions, body });
  await eventually("the definition is established", async () => {
    const { text } = await client.send({ method: "GET", path: `${definitions}/ships.node.k8s.io` });
    return text.includes('"type":"Established"');
  });
  for (const [path, status, names] of shadowed) {
    const answer = await client.send({ method: "GET", path: `/apis/node.k8s.io/${path}` });
    const { message, resources } = JSON.parse(answer.text);
    assert.deepEqual(
      [answer.status, message, resources?.map(({ name }: { name: string }) => name)],
      [status, status === 404 ? "the server could not find the requested resource" : undefined, names],
      path,
    );
  }
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const { text } = await client.send({ method: "GET", path: "/apis", headers: { accept } });
  const groups: { metadata: { name: string }; versions: { version: string; resources: { resource: string }[] }[] }[] =
    JSON.parse(text).items;
  const versions = groups.find(({ metadata }) => metadata.name === "node.k8s.io")?.versions;
  assert.deepEqual(
    versions?.map(({ version, resources }) => [version, resources.map(({ resource }) => resource)]),
    [
      ["v9", ["ships"]],
      ["v1", ["runtimeclasses"]],
    ],
  );
});
