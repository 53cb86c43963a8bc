/**
 * Reads a kubeconfig whose current context says which webhook to call, and as whom. Source: client-go's tools/clientcmd, as LoadKubeconfig of
 * k8s.io/apiserver's util/webhook uses it: its rules and texts.
 */
import { quoteGo } from "../lib/json/quote.ts";
import { type ClusterConfig, type ContextConfig, contentOfFile, nobody, readKubeconfig, type UserConfig } from "../lib/kubeconfig/kubeconfig.ts";
import { clusterProblems, invalidConfiguration, userProblems } from "../lib/kubeconfig/problems.ts";
import type { WebhookEndpoint } from "./contract.ts";

/**
 * Fields that nobody knows are passed over; paths in the file are relative to it. Unlike upstream, `proxy-url`, `exec` and `auth-provider` are refused.
 * @throws Error in upstream's words: `error loading config file "…": …`, `invalid configuration: …`
 */
export async function readWebhookKubeconfig(file: string): Promise<WebhookEndpoint> {
  const config = await readKubeconfig(file);
  const context = config.contexts.get(config.currentContext);
  const user = config.users.get(context?.user ?? "");
  const cluster = config.clusters.get(context?.cluster ?? "");
  const problems = [
    ...(config.currentContext !== "" && context === undefined ? [`context was not found for specified context: ${config.currentContext}`] : []),
    ...(user === undefined ? [] : [...(await userProblems(context?.user as string, user)), ...refusals(context as ContextConfig, user, cluster)]),
  ];
  if (cluster === undefined && problems.length === 0) throw new Error(`invalid configuration: ${noConfiguration}`);
  problems.push(...(cluster === undefined ? ["cluster has no server defined"] : await clusterProblems(context?.cluster as string, cluster)));
  const invalid = invalidConfiguration(problems);
  if (invalid !== undefined) throw invalid;
  return endpointOf(cluster as ClusterConfig, user ?? nobody);
}

const noConfiguration = "no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

/** What webhooks' clients do not do. */
function refusals({ user: name, cluster: clusterName }: ContextConfig, user: UserConfig, cluster: ClusterConfig | undefined): string[] {
  const proxy = cluster?.["proxy-url"] ?? "";
  return [
    ...(user.exec === undefined ? [] : [`exec plugins are not supported, but ${name} has one`]),
    ...(user.authProvider ? [`auth providers are not supported, but ${name} has one`] : []),
    ...(user.as === "" ? [] : [`impersonation is not supported, but ${name} asks for it`]),
    ...(proxy === ""
      ? []
      : [`invalid 'proxy-url' ${quoteGo(withoutPassword(proxy))} for cluster ${quoteGo(clusterName)}: proxies are not supported`]),
  ];
}

/** Who we are is told over TLS alone. */
async function endpointOf(cluster: ClusterConfig, user: UserConfig): Promise<WebhookEndpoint> {
  const url = serverUrl(cluster.server);
  if (!url.startsWith("https:")) return { url };
  const ca = cluster["certificate-authority-data"] || (await contentOfFile(cluster["certificate-authority"]));
  if (cluster.insecure && ca !== undefined) throw new Error("specifying a root certificates file with the insecure flag is not allowed");
  const cert = user["client-certificate-data"] || (await contentOfFile(user["client-certificate"]));
  const key = user["client-key-data"] || (await contentOfFile(user["client-key"]));
  const tokenFile = user.token === "" ? user.tokenFile : "";
  const token = user.token || (await contentOfFile(tokenFile))?.trim();
  const { username, password } = user;
  return {
    url,
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert }),
    ...(cert !== undefined && key !== undefined && { key }),
    ...(cluster["tls-server-name"] !== "" && { serverName: cluster["tls-server-name"] }),
    ...(cluster.insecure && { insecureSkipTlsVerify: true }),
    ...(token !== undefined && { token }),
    ...(tokenFile !== "" && { tokenFile }),
    ...((username !== "" || password !== "") && { basic: { username, password } }),
  };
}

/** An address, be it none, as it may be told. */
function withoutPassword(url: string): string {
  return url.replace(/(^|\/\/)[^/\s]*@/, "$1xxxxx@");
}

/** A host alone is taken for one without TLS, as upstream does. */
function serverUrl(server: string): string {
  const url = URL.parse(server.includes("://") ? server : `http://${server}`);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new Error(`host must be a URL or a host:port pair: ${quoteGo(withoutPassword(server))}`);
  return url.pathname === "/" ? url.origin : `${url.origin}${url.pathname}`;
}
