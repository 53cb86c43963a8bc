/**
 * Finds the kubeconfig of a command: the named file, the merged files of KUBECONFIG, or
 * ~/.kube/config. Source: `k8s.io/client-go@v0.36.0/tools/clientcmd/loader.go`.
 */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { type Kubeconfig, readKubeconfig } from "../../lib/kubeconfig/kubeconfig.ts";

/**
 * Reads and merges the kubeconfig files.
 *
 * @param named the file of --kubeconfig
 * @throws Error if the named file or all files of KUBECONFIG do not exist, and with upstream's message if a file is invalid
 */
export async function findKubeconfig(named: string | undefined, env: NodeJS.ProcessEnv): Promise<Kubeconfig> {
  if (named !== undefined) {
    if (!existsSync(named)) throw new Error(`${named} cannot be read: no such file or directory`);
    return readKubeconfig(named);
  }
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  const files = listed.length > 0 ? listed : [join(homedir(), ".kube", "config")];
  const existing = files.filter((file) => existsSync(file));
  if (listed.length > 0 && existing.length === 0)
    throw new Error(`no kubeconfig was found: KUBECONFIG is ${env.KUBECONFIG}, which does not exist`);
  const configs = await Promise.all(existing.map(readKubeconfig));
  return configs.reduce(merged, { currentContext: "", clusters: new Map(), users: new Map(), contexts: new Map() });
}

/** The first file that defines a name wins. */
function merged(first: Kubeconfig, next: Kubeconfig): Kubeconfig {
  return {
    currentContext: first.currentContext || next.currentContext,
    clusters: new Map([...next.clusters, ...first.clusters]),
    users: new Map([...next.users, ...first.users]),
    contexts: new Map([...next.contexts, ...first.contexts]),
  };
}
