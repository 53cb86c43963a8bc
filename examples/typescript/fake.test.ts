/** The same test with a fake: it passes, also with the bug. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { V1Deployment } from "@kubernetes/client-node";
import { fakeClients } from "./fake-clients.ts";
import type { Website, WebsiteClients } from "./website.ts";

const { reconcile } = await import(process.env.BUGGY === "1" ? "./buggy.ts" : "./controller.ts");

test("reports the state of a Website to a fake", async () => {
  const metadata = { name: "blog", namespace: "default", uid: "1", generation: 1 };
  const websites = new Map<string, Website>([["blog", { metadata, spec: { image: "nginx", replicas: 2 } }]]);
  const deployments = new Map<string, V1Deployment>();
  const clients = fakeClients(websites, deployments) as WebsiteClients;
  await reconcile(clients, websites.get("blog"));
  const deployment = deployments.get("blog");
  assert.equal(deployment?.spec?.replicas, 2);

  deployments.set("blog", { ...deployment, status: { readyReplicas: 2 } });
  await reconcile(clients, websites.get("blog"));
  assert.deepEqual(websites.get("blog")?.status, { observedGeneration: 1, readyReplicas: 2 });
});
