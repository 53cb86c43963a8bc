/** Which kubeconfig a command uses: the file that is named, those of KUBECONFIG as one, or that of the home directory. Source: client-go's loading rules. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, join } from "node:path";
import { type Kubeconfig, readKubeconfig } from "../../lib/kubeconfig/kubeconfig.ts";

/** @throws Error in upstream's words when the file that is named is not there, or one of them is not right */
export async function findKubeconfig(named: string | undefined, env: NodeJS.ProcessEnv): Promise<Kubeconfig> {
  if (named !== undefined) return readKubeconfig(named);
  const listed = (env.KUBECONFIG ?? "").split(delimiter).filter((file) => file !== "");
  const files = listed.length > 0 ? listed : [join(homedir(), ".kube", "config")];
  const configs = await Promise.all(files.filter((file) => existsSync(file)).map(readKubeconfig));
  return configs.reduce(merged, { currentContext: "", clusters: new Map(), users: new Map(), contexts: new Map() });
}

/** The first that names something says what it is. */
function merged(first: Kubeconfig, next: Kubeconfig): Kubeconfig {
  return {
    currentContext: first.currentContext || next.currentContext,
    clusters: new Map([...next.clusters, ...first.clusters]),
    users: new Map([...next.users, ...first.users]),
    contexts: new Map([...next.contexts, ...first.contexts]),
  };
}
