/**
 * Errors have the negotiated form, if there is one. Source: ErrorNegotiated in
 * k8s.io/apiserver@v0.36.0/pkg/endpoints/handlers/responsewriters/writers.go.
 */
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { send } from "../../test/support/api-client.ts";
import { type MemoryRegistry, openMemoryRegistry } from "../../test/support/memory-registry.ts";

const path = "/api/v1/namespaces/n/configmaps/none";
const json = "application/json";
const yaml = "application/yaml";
const protobuf = "application/vnd.kubernetes.protobuf";
const table = ";as=Table;g=meta.k8s.io;v=v1";
const compact = /^\{"kind":"Status".*\}\n$/;
const indented = /^\{\n {2}"kind": "Status",\n.+\n\}$/s;

const rows: [headers: Record<string, string>, status: number, contentType: string, text: RegExp][] = [
  [{}, 404, json, compact],
  [{ "user-agent": "curl/8.5" }, 404, json, indented],
  [{ accept: "*/*", "user-agent": "curl/8.5" }, 404, json, indented],
  [{ accept: yaml }, 404, yaml, /^apiVersion: v1\ncode: 404\n/],
  [{ accept: protobuf }, 404, protobuf, /^k8s.{5}v1..Status/s],
  [{ accept: `${json};stream=watch` }, 404, json, compact],
  [{ accept: `${json + table},${json}` }, 404, json, compact],
  [{ accept: `${json + table},${yaml}` }, 404, yaml, /^apiVersion/],
  // There is none: an error is no Table.
  [{ accept: json + table }, 404, json, indented],
  [{ accept: `${protobuf};as=PartialObjectMetadata;g=meta.k8s.io;v=v1` }, 404, json, indented],
  [{ accept: "text/html" }, 406, json, indented],
  [{ accept: "application/*" }, 406, json, compact],
  [{ accept: `text/html,${yaml};sv=v1` }, 404, json, indented],
  [{ accept: `${yaml};stream=watch` }, 406, json, indented],
];

let memory: MemoryRegistry;
before(async () => {
  memory = await openMemoryRegistry();
});
after(() => memory.close());

for (const [headers, status, contentType, text] of rows) {
  test(JSON.stringify(headers), async () => {
    const answer = await send(memory.registry, `GET ${path}`, undefined, headers);
    assert.deepEqual([answer.status, answer.contentType], [status, contentType], answer.bytes.toString());
    assert.match(answer.bytes.toString("latin1"), text);
  });
}
