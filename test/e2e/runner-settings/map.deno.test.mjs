import assert from "node:assert/strict";
import { configMap, useTestServer } from "coxswain/testing";

const kit = useTestServer(Deno.test);

Deno.test("creates a ConfigMap", async () => {
  const path = `/api/v1/namespaces/${await kit.namespace()}/configmaps`;
  const response = await kit.server.fetch(path, { method: "POST", body: configMap("a") });
  assert.equal(response.status, 201);
});
