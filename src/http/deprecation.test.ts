import assert from "node:assert/strict";
import { test } from "node:test";
import { send } from "../../test/support/api-client.ts";
import { openMemoryRegistry } from "../../test/support/memory-registry.ts";

const endpoints = "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";

const rows: [request: string, body: unknown, warnings: string][] = [
  ["GET /api/v1/namespaces/default/endpoints", undefined, `299 - "${endpoints}"`],
  ["GET /api/v1/namespaces/default/endpoints/none", undefined, `299 - "${endpoints}"`],
  ["GET /apis/discovery.k8s.io/v1/namespaces/default/endpointslices", undefined, ""],
  ["GET /api/v1/componentstatuses", undefined, '299 - "v1 ComponentStatus is deprecated in v1.19+"'],
  ["GET /api/v1/namespaces/default/configmaps", undefined, ""],
];

test("responses of deprecated versions carry a warning", async () => {
  const { registry, close } = await openMemoryRegistry();
  for (const [request, body, warnings] of rows)
    assert.equal((await send(registry, request, body)).warnings, warnings, request);
  await close();
});
