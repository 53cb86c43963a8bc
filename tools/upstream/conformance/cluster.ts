/** A server with what conformance tests expect of a cluster without kubelets: two nodes that are ready, and all controllers. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { controllerNames } from "../../../src/controllers/enabled.ts";
import { formatKubeconfig } from "../../../src/server/serving/kubeconfig.ts";
import { freePorts } from "../../../test/support/etcd.ts";
import { http2Client } from "../../../test/support/http2-client.ts";
import { startKubeApiserver } from "../../../test/support/kube-apiserver.ts";
import { startControllerManager } from "../../../test/support/kube-controller-manager.ts";
import { startServerProcess } from "../../../test/support/server-process.ts";
import { type SharedCertificates, writeSharedCertificates } from "../../../test/support/shared-certificates.ts";

export interface Cluster {
  readonly name: "coxswain" | "upstream";
  /** Of an administrator. */
  readonly kubeconfig: string;
  close(): Promise<void>;
}

interface Server extends Omit<Cluster, "name"> {
  readonly url: string;
  readonly certificates: SharedCertificates;
  readonly directory: string;
}

/** Nodes have no kubelet, so the controller that would find them not ready does not run. */
const nodeController = "node-lifecycle-controller";

/** kube-apiserver rejects loopback addresses in the Endpoints of the Service `kubernetes`. */
const publishedEndpoints = ["--endpoint-reconciler-type=lease", "--advertise-address=192.0.2.1"];

/** Starts the server, and a kube-controller-manager with the controllers that the server does not run. */
export async function startCluster(name: Cluster["name"]): Promise<Cluster> {
  const server = name === "coxswain" ? await startCoxswain() : await startKubeApiserver({ flags: publishedEndpoints });
  const own = name === "coxswain" ? controllerNames : [];
  const controllers = ["*", ...[...own, nodeController].map((one) => `-${one}`)];
  const flags = ["--leader-elect=false", `--controllers=${controllers.join()}`];
  const manager = await startControllerManager({ ...server, flags });
  const close = async (): Promise<void> => {
    await manager.end("SIGKILL");
    await server.close();
  };
  try {
    await createNodes(server.kubeconfig);
    return { name, kubeconfig: server.kubeconfig, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function startCoxswain(): Promise<Server> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-conformance-"));
  const certificates = await writeSharedCertificates(directory);
  const [port] = (await freePorts(1)) as [number];
  const flags = [
    `--data-dir=${join(directory, "data")}`,
    "--allow-privileged",
    ...certificates.servingFlags,
    ...certificates.tokenFlags,
    ...(await certificates.proxyFlags()),
  ];
  const server = await startServerProcess({ port, flags, ca: certificates.ca });
  const admin = await certificates.client("kubernetes-admin", ["system:masters"]);
  const url = `https://127.0.0.1:${port}`;
  return {
    url,
    certificates,
    directory,
    kubeconfig: formatKubeconfig(url, { caBundle: certificates.ca, admin }),
    async close() {
      await server.end("SIGTERM");
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

async function createNodes(kubeconfig: string): Promise<void> {
  const client = http2Client(kubeconfig);
  try {
    for (const name of ["node-1", "node-2"]) {
      const capacity = { cpu: "8", memory: "16Gi", pods: "110", "ephemeral-storage": "100Gi" };
      const conditions = [{ type: "Ready", status: "True", reason: "Simulated", message: "there is no kubelet" }];
      const addresses = [{ type: "InternalIP", address: "127.0.0.1" }];
      const status = { capacity, allocatable: capacity, conditions, addresses };
      const created = await client.send("POST /api/v1/nodes", { metadata: { name }, status });
      // Admission taints new nodes, and the controller that does not run would take the taint away.
      const merge = "application/merge-patch+json";
      const ready = await client.send(`PATCH /api/v1/nodes/${name}`, { spec: { taints: null } }, merge);
      if (ready.status !== 200) throw new Error(`cannot create a Node: ${JSON.stringify([created.body, ready.body])}`);
    }
  } finally {
    client.close();
  }
}
