/** A fake of the cluster, as tests often have one: it keeps what it is given. */
import type { V1Deployment } from "@kubernetes/client-node";
import type { Website, WebsiteClients } from "./website.ts";

type FakeClients = Pick<WebsiteClients, "apply" | "patchStatus" | "replace">;

export function fakeClients(websites: Map<string, Website>, deployments: Map<string, V1Deployment>): FakeClients {
  return {
    async apply(deployment) {
      const name = deployment.metadata?.name ?? "";
      const stored = { ...deployments.get(name), ...deployment };
      deployments.set(name, stored);
      return stored;
    },
    async patchStatus(website, status) {
      websites.set(website.metadata.name, { ...website, status });
    },
    async replace(website) {
      websites.set(website.metadata.name, website);
    },
  };
}
