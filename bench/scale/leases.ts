/** Nodes renew their leases, as kubelets do: each replaces its Lease, whose last answer it keeps, every 10 s. */
import type { BenchClient } from "../client.ts";
import { type Show, withServer } from "./contract.ts";

const nodes = 5000;
const periodSeconds = 10;
/** Renewals of all nodes that are measured. */
const rounds = 2;
const connections = 50;
const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";

export async function renewedLeases(show: Show): Promise<void> {
  await withServer(async ({ client, connect, cpuMsOf }) => {
    const names = Array.from({ length: nodes }, (_, node) => `node-${String(node).padStart(5, "0")}`);
    const versions: string[] = [];
    const write = async (writer: BenchClient, node: number, method: "POST" | "PUT"): Promise<void> => {
      const name = names[node] as string;
      const path = method === "POST" ? leases : `${leases}/${name}`;
      const { status, body } = await writer.send({ method, path, body: lease(name, versions[node]) });
      if (status > 201) throw new Error(body.slice(0, 300));
      versions[node] = /"resourceVersion":"(\d+)"/.exec(body)?.[1] as string;
    };
    for (let node = 0; node < nodes; node += connections)
      await Promise.all(Array.from({ length: connections }, (_, index) => write(client, node + index, "POST")));
    const clients = Array.from({ length: connections }, connect);
    /** Spread over the period. */
    const renewAll = async (): Promise<void> => {
      const renewals: Promise<unknown>[] = [];
      const since = performance.now();
      for (let node = 0; node < nodes; node++) {
        const waitMs = since + (node * periodSeconds * 1000) / nodes - performance.now();
        if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
        renewals.push(write(clients[node % connections] as BenchClient, node, "PUT"));
      }
      await Promise.all(renewals);
    };
    await renewAll();
    const cpuMs = await cpuMsOf(async () => {
      for (let round = 0; round < rounds; round++) await renewAll();
    });
    const share = cpuMs / (rounds * periodSeconds * 1000);
    show(`${nodes} leases renewed every ${periodSeconds} s`, `${(share * 100).toFixed(1)} % of a core`, "25 %");
    show("  each", `${(cpuMs / rounds / nodes).toFixed(2)} ms of CPU`);
  });
}

function lease(name: string, resourceVersion: string | undefined): string {
  return JSON.stringify({
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name, resourceVersion },
    // MicroTime, as Go formats it.
    spec: { holderIdentity: name, leaseDurationSeconds: 40, renewTime: new Date().toISOString().replace("Z", "000Z") },
  });
}
