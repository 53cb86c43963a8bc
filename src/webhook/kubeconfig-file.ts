/**
 * Reads a kubeconfig whose current context says which webhook to call, and as whom. Source: client-go's tools/clientcmd, as LoadKubeconfig of
 * k8s.io/apiserver's util/webhook uses it: its rules and texts.
 */
import type { Logger } from "../apimachinery/logger.ts";
import { quoteGo } from "../lib/json/quote.ts";
import {
  type ClusterConfig,
  type ContextConfig,
  contentOfFile,
  nobody,
  readKubeconfig,
  type UserConfig,
} from "../lib/kubeconfig/kubeconfig.ts";
import { clusterProblems, invalidConfiguration, userProblems } from "../lib/kubeconfig/problems.ts";
import type { WebhookEndpoint } from "./contract.ts";

export interface WebhookKubeconfigOptions {
  /** What the webhook does, for warnings: `authorization`. */
  readonly purpose: string;
  readonly logger: Pick<Logger, "warn">;
  /** Whether query parameters in the URL of the server are an error. client-go drops them, and so does this function by default, with a warning. */
  readonly rejectParameters?: boolean;
}

/**
 * Fields that nobody knows are passed over; paths in the file are relative to it. Unlike upstream, `proxy-url`, `exec` and `auth-provider` are refused.
 * Logs a warning for a server that is reached without TLS.
 *
 * @throws Error in upstream's words: `error loading config file "…": …`, `invalid configuration: …`
 */
export async function readWebhookKubeconfig(file: string, options: WebhookKubeconfigOptions): Promise<WebhookEndpoint> {
  const config = await readKubeconfig(file);
  const context = config.contexts.get(config.currentContext);
  const user = config.users.get(context?.user ?? "");
  const cluster = config.clusters.get(context?.cluster ?? "");
  const problems = [
    ...(config.currentContext !== "" && context === undefined
      ? [`context was not found for specified context: ${config.currentContext}`]
      : []),
    ...(user === undefined
      ? []
      : [...(await userProblems(context?.user as string, user)), ...refusals(context as ContextConfig, user, cluster)]),
  ];
  if (cluster === undefined && problems.length === 0) throw new Error(`invalid configuration: ${noConfiguration}`);
  problems.push(
    ...(cluster === undefined
      ? ["cluster has no server defined"]
      : await clusterProblems(context?.cluster as string, cluster)),
  );
  const invalid = invalidConfiguration(problems);
  if (invalid !== undefined) throw invalid;
  const url = serverUrl((cluster as ClusterConfig).server);
  checkServer(url, context?.cluster as string, options);
  return endpointOf(withoutParameters(url), cluster as ClusterConfig, user ?? nobody);
}

const noConfiguration = "no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

/** What webhooks' clients do not do. */
function refusals(
  { user: name, cluster: clusterName }: ContextConfig,
  user: UserConfig,
  cluster: ClusterConfig | undefined,
): string[] {
  const proxy = cluster?.["proxy-url"] ?? "";
  return [
    ...(user.exec === undefined ? [] : [`exec plugins are not supported, but ${name} has one`]),
    ...(user.authProvider ? [`auth providers are not supported, but ${name} has one`] : []),
    ...(user.as === "" ? [] : [`impersonation is not supported, but ${name} asks for it`]),
    ...(proxy === ""
      ? []
      : [
          `invalid 'proxy-url' ${quoteGo(withoutPassword(proxy))} for cluster ${quoteGo(clusterName)}: proxies are not supported`,
        ]),
  ];
}

/** Neither message shows the parameters: they may hold a secret. */
function checkServer(
  url: URL,
  cluster: string,
  { purpose, logger, rejectParameters = false }: WebhookKubeconfigOptions,
): void {
  if (url.search !== "" && rejectParameters) {
    throw new Error(`invalid configuration: the server of cluster ${quoteGo(cluster)} must not have query parameters`);
  }
  const server = withoutParameters(url);
  if (url.search !== "") logger.warn("Query parameters of the webhook's server are dropped", { purpose, server });
  if (url.protocol === "http:") {
    logger.warn(
      "The webhook's server is not https: requests and answers can be read and changed on the way, and no credentials are sent",
      {
        purpose,
        server,
      },
    );
  }
}

/** Credentials are sent over TLS alone. */
async function endpointOf(url: string, cluster: ClusterConfig, user: UserConfig): Promise<WebhookEndpoint> {
  if (!url.startsWith("https:")) return { url };
  const ca = cluster["certificate-authority-data"] || (await contentOfFile(cluster["certificate-authority"]));
  if (cluster.insecure && ca !== undefined)
    throw new Error("specifying a root certificates file with the insecure flag is not allowed");
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
function serverUrl(server: string): URL {
  const url = URL.parse(server.includes("://") ? server : `http://${server}`);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new Error(`host must be a URL or a host:port pair: ${quoteGo(withoutPassword(server))}`);
  return url;
}

function withoutParameters({ origin, pathname }: URL): string {
  return pathname === "/" ? origin : `${origin}${pathname}`;
}
