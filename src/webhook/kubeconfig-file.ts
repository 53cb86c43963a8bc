/**
 * Reads the endpoint of a webhook from a kubeconfig, with upstream's rules and messages.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/webhook/webhook.go,
 * k8s.io/client-go@v0.36.0/tools/clientcmd/client_config.go.
 */
import type { Logger } from "../apimachinery/logger.ts";
import { quoteGo } from "../lib/json/quote.ts";
import {
  type ClusterConfig,
  type ContextConfig,
  contentOfFile,
  emptyUser,
  readKubeconfig,
  type UserConfig,
} from "../lib/kubeconfig/kubeconfig.ts";
import { clusterProblems, invalidConfiguration, userProblems } from "../lib/kubeconfig/problems.ts";
import type { WebhookEndpoint } from "./contract.ts";

interface WebhookKubeconfigOptions {
  /** The purpose of the webhook in log lines, such as `authorization`. */
  readonly purpose: string;
  readonly logger: Pick<Logger, "warn">;
  /**
   * Whether query parameters in the URL of the server are an error. client-go drops them, and so
   * does this function by default, with a warning.
   */
  readonly rejectParameters?: boolean;
}

/**
 * Reads the current context of the file. Ignores unknown fields; relative paths are relative to the
 * file. Unlike upstream, rejects `proxy-url`, `exec` and `auth-provider`. Logs a warning for a
 * server without TLS.
 *
 * @throws Error with upstream's messages: `error loading config file "…": …`, `invalid
 *   configuration: …`
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
      : [
          ...(await userProblems(context?.user as string, user)),
          ...unsupportedProblems(context as ContextConfig, user, cluster),
        ]),
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
  return endpointOf(withoutParameters(url), cluster as ClusterConfig, user ?? emptyUser);
}

const noConfiguration = "no configuration has been provided, try setting KUBERNETES_MASTER environment variable";

/** Fields that webhook clients do not support. */
function unsupportedProblems(
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

/** The messages omit query parameters, which can contain secrets. */
function checkServer(
  url: URL,
  cluster: string,
  { purpose, logger, rejectParameters = false }: WebhookKubeconfigOptions,
): void {
  if (url.search !== "" && rejectParameters) {
    throw new Error(`invalid configuration: the server of cluster ${quoteGo(cluster)} must not have query parameters`);
  }
  const server = withoutParameters(url);
  if (url.search !== "") logger.warn("Dropped query parameters of the webhook server", { purpose, server });
  if (url.protocol === "http:") {
    logger.warn(
      "Webhook server is not https: traffic is neither encrypted nor authenticated, and no credentials are sent",
      {
        purpose,
        server,
      },
    );
  }
}

/** Omits credentials without TLS. */
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

/** Hides the credentials in a URL, also in an invalid one, for messages. */
function withoutPassword(url: string): string {
  return url.replace(/(^|\/\/)[^/\s]*@/, "$1xxxxx@");
}

/** As upstream, a server without a scheme uses http. */
function serverUrl(server: string): URL {
  const url = URL.parse(server.includes("://") ? server : `http://${server}`);
  if (url === null || !["http:", "https:"].includes(url.protocol))
    throw new Error(`host must be a URL or a host:port pair: ${quoteGo(withoutPassword(server))}`);
  return url;
}

function withoutParameters({ origin, pathname }: URL): string {
  return pathname === "/" ? origin : `${origin}${pathname}`;
}
