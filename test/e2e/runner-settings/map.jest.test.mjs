import * as runner from "@jest/globals";
import { configMap, useTestServer } from "coxswain/testing";

const { expect, test } = runner;
const kit = useTestServer(runner);

test("creates a ConfigMap", async () => {
  const path = `/api/v1/namespaces/${await kit.namespace()}/configmaps`;
  const response = await kit.server.fetch(path, { method: "POST", body: configMap("a") });
  expect(response.status).toBe(201);
});
