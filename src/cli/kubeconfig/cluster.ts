/** The server that a kubeconfig is for. */
import { join } from "node:path";
import { type ClusterConfig, readKubeconfig } from "../../lib/kubeconfig/kubeconfig.ts";

/** Where a server is, and how clients verify it. */
export interface Cluster {
  readonly url: string;
  /** PEM */
  readonly caBundle: string;
}

/**
 * Reads the kubeconfig that the last start has written to the data directory.
 *
 * @param server a URL to use instead of the one in the file
 * @throws Error that says what is missing
 */
export async function readCluster({ dataDir, server }: { dataDir: string; server?: string }): Promise<Cluster> {
  const file = join(dataDir, "kubeconfig");
  const { currentContext, contexts, clusters } = await readKubeconfig(file);
  const cluster = clusters.get(contexts.get(currentContext)?.cluster ?? "");
  if (cluster === undefined) throw new Error(`${file} has no cluster`);
  return { url: server === undefined ? cluster.server : httpsUrl(server), caBundle: authorityOf(cluster, file) };
}

function authorityOf(cluster: ClusterConfig, file: string): string {
  const bundle = cluster["certificate-authority-data"];
  if (bundle === "") throw new Error(`${file} has no certificate-authority-data`);
  return bundle;
}

/** @throws Error */
function httpsUrl(text: string): string {
  if (URL.parse(text)?.protocol !== "https:") throw new Error(`--server must be an https URL: ${JSON.stringify(text)}`);
  return text;
}
