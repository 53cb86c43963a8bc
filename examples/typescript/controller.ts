/** A controller of the custom resource Website: it runs each in a Deployment, and reports in the status how far it is. */
import type * as k8s from "@kubernetes/client-node";
import type { Website, WebsiteClients } from "./website.ts";

/** Brings one Website closer to its desired state. The controller under test; another version can be passed for tests. */
export type Reconcile = (clients: WebsiteClients, website: Website) => Promise<void>;

/** Applies the Deployment, and writes the status if it differs. */
export const reconcile: Reconcile = async (clients, website) => {
  const deployment = await clients.apply(deploymentOf(website));
  const readyReplicas = deployment.status?.readyReplicas ?? 0;
  const { generation } = website.metadata;
  if (website.status?.observedGeneration === generation && website.status?.readyReplicas === readyReplicas) return;
  await clients.patchStatus(website, { observedGeneration: generation, readyReplicas });
};

/** The Deployment of a Website, which is deleted with it. */
export function deploymentOf({ metadata, spec }: Website): k8s.V1Deployment {
  const { name, namespace, uid } = metadata;
  const labels = { website: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: {
      name,
      namespace,
      ownerReferences: [{ apiVersion: "example.com/v1", kind: "Website", name, uid, controller: true }],
    },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: "web", image: spec.image }] } },
    },
  };
}

/** Reconciles all Websites of a namespace when they or their Deployments change. Returns a function that stops it. */
export async function startController(
  config: k8s.KubeConfig,
  { namespace, reconcile: step = reconcile }: { namespace: string; reconcile?: Reconcile },
): Promise<() => Promise<void>> {
  const { websiteClients } = await import("./website.ts");
  const clients = websiteClients(config);
  const queue = new Map<string, Promise<void>>();
  const enqueue = (name: string): void => {
    const previous = queue.get(name) ?? Promise.resolve();
    const next = previous.then(() => reconcileByName(name));
    queue.set(name, next); // One at a time for each Website.
  };
  const reconcileByName = async (name: string): Promise<void> => {
    const website = websites.get(name, namespace) as Website | undefined;
    if (website === undefined) return; // Garbage collection deletes the Deployment.
    try {
      await step(clients, website);
    } catch (error) {
      console.error(`reconciling ${name}:`, error);
    }
  };
  const websites = clients.websites(namespace);
  const deployments = clients.deployments(namespace);
  for (const event of ["add", "update"] as const) websites.on(event, ({ metadata }) => enqueue(metadata?.name ?? ""));
  for (const event of ["add", "update", "delete"] as const)
    deployments.on(event, ({ metadata }) => {
      const owner = metadata?.ownerReferences?.find(({ kind }) => kind === "Website");
      if (owner !== undefined) enqueue(owner.name);
    });
  await websites.start();
  await deployments.start();
  return async () => {
    await websites.stop();
    await deployments.stop();
    await Promise.all(queue.values());
  };
}
