/** Compares the APIServices of a new server with those of kube-apiserver, field by field. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { rawClient } from "../../../test/support/raw-client.ts";
import { startTestServer } from "../../../test/support/start-test-server.ts";
import type { KubeObject } from "../../apimachinery/object.ts";

const fixtures: [file: string, runtimeConfig: string][] = [
  ["default-versions", ""],
  ["all-versions", "api/all=true"],
];
for (const [file, runtimeConfig] of fixtures) {
  test(`registers the same objects as kube-apiserver: ${file}`, async () => {
    const text = readFileSync(`${import.meta.dirname}/testdata/${file}.jsonl`, "utf8");
    const expected: KubeObject[] = text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    const server = await startTestServer({ runtimeConfig });
    const client = rawClient(server.kubeconfig);
    const { body } = await client.send({ path: "/apis/apiregistration.k8s.io/v1/apiservices" });
    client.close();
    await server.close();
    assert.deepEqual(body.items.map(withoutVaryingFields), expected);
  });
}

function withoutVaryingFields({ metadata, status, ...rest }: KubeObject): unknown {
  const { uid: _uid, creationTimestamp: _created, resourceVersion: _version, managedFields = [], ...meta } = metadata;
  const withoutTime = (field: string) => (part: object) => ({ ...part, [field]: undefined });
  const entries = managedFields.map(withoutTime("time"));
  const conditions = status?.conditions.map(withoutTime("lastTransitionTime"));
  return JSON.parse(JSON.stringify({ ...rest, metadata: { ...meta, managedFields: entries }, status: { conditions } }));
}
