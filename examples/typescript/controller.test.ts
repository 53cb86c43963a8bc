/** Tests the controller against a real API. `BUGGY=1` tests the version with the bug. */
import assert from "node:assert/strict";
import * as runner from "node:test";
import * as k8s from "@kubernetes/client-node";
import {
  appliedBy,
  customResourceDefinition,
  eventually,
  hasCondition,
  noFurtherWrites,
  object,
  ownedBy,
  type TestServer,
  useTestServer,
} from "coxswain/testing";
import { startController } from "./controller.ts";

const { reconcile } = await import(process.env.BUGGY === "1" ? "./buggy.ts" : "./controller.ts");
const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const kit = useTestServer(runner, {
  async setup(server) {
    await send("POST", definitions, customResourceDefinition("websites.example.com", "Website"), server);
    const current = () => send("GET", `${definitions}/websites.example.com`, undefined, server);
    await eventually(async () => hasCondition(await current(), "Established"));
  },
});

/** Sends a request, and checks that it succeeds. */
async function send(method: string, path: string, body?: object, server: TestServer = kit.server) {
  const response = await server.fetch(path, { method, ...(body && { body }) });
  const answer = await response.json();
  assert.ok(response.ok, answer.message);
  return answer;
}

runner.test("runs a Website in a Deployment, and reports its state", async (t) => {
  const namespace = await kit.namespace();
  const user = { user: "website-controller", groups: ["system:masters"] };
  const config = await kit.server.kubeConfig(k8s.KubeConfig, user);
  const stop = await startController(config, { namespace, reconcile });
  t.after(stop);
  const websites = `/apis/example.com/v1/namespaces/${namespace}/websites`;
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;

  const spec = { image: "nginx", replicas: 2 };
  const website = await send("POST", websites, object("example.com/v1", "Website", "blog", { spec }));
  const deployment = await eventually(() => send("GET", `${deployments}/blog`));
  ownedBy(deployment, website, { controller: true });
  appliedBy(deployment, "website-controller", { fields: ["spec.replicas"] });

  // No kubelet runs the pods, so the test writes the status of the Deployment.
  const status = { replicas: 2, readyReplicas: 2 };
  await send("PATCH", `${deployments}/blog/status`, { status });
  await eventually(
    async () => {
      const current = await send("GET", `${websites}/blog`);
      assert.deepEqual(current.status, { observedGeneration: 1, readyReplicas: 2 });
    },
    { timeoutMs: 5000 },
  );
  await noFurtherWrites(kit.server, { where: (request) => request.namespace === namespace });
});
