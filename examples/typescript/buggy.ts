/**
 * The controller with a bug that looks like correct code: it writes the status with the object. The definition has the
 * subresource `status`, so the server ignores the status in such a request: it answers 200, and stores nothing.
 */
import { deploymentOf, type Reconcile } from "./controller.ts";

export const reconcile: Reconcile = async (clients, website) => {
  const deployment = await clients.apply(deploymentOf(website));
  const readyReplicas = deployment.status?.readyReplicas ?? 0;
  const { generation } = website.metadata;
  if (website.status?.observedGeneration === generation && website.status?.readyReplicas === readyReplicas) return;
  await clients.replace({ ...website, status: { observedGeneration: generation, readyReplicas } });
};
