/**
 * A client for the server and user of a kubeconfig. Source: `k8s.io/client-go@v0.36.0/rest` and
 * `k8s.io/client-go@v0.36.0/tools/clientcmd`.
 */
import type { ClientRequest as HttpRequest, IncomingMessage, OutgoingHttpHeaders } from "node:http";
import https from "node:https";
import { encodeAny } from "../../lib/json/encode-any.ts";
import { quoteGo } from "../../lib/json/quote.ts";
import {
  type ClusterConfig,
  contentOfFile,
  emptyUser,
  type Kubeconfig,
  type UserConfig,
} from "../../lib/kubeconfig/kubeconfig.ts";
import { clusterProblems, invalidConfiguration, userProblems } from "../../lib/kubeconfig/problems.ts";
import { trimEndOf } from "../../lib/text/trim.ts";
import {
  type Credentials,
  type ExecCluster,
  type ExecCredentials,
  type ExecEnvironment,
  execCredentials,
} from "./exec-credential.ts";

/** Options of {@link openClient}. */
export interface ClientOptions {
  /** Instead of the current context of the kubeconfig. */
  readonly context?: string | undefined;
  /** For credential plugins. */
  readonly environment: ExecEnvironment;
  /** Timeout of one request; 30,000 by default. */
  readonly timeoutMs?: number;
}

export interface ClientRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  readonly headers?: Readonly<Headers>;
  /** Sent as JSON. Integers can be bigint. */
  readonly body?: object;
}

interface ClientAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends requests with the credentials of the kubeconfig. */
export interface Client {
  /** `https://host:port`, with a path where the server has one. */
  readonly server: string;
  /** The namespace of the context; `default` if the context has none. */
  readonly namespace: string;
  /**
   * @throws Error when the server does not answer, or a credential plugin fails: `getting
   *   credentials: exec: …`
   */
  send(request: ClientRequest): Promise<ClientAnswer>;
  /** Sends a request whose body the caller reads. @throws Error as `send` */
  open(request: ClientRequest): Promise<IncomingMessage>;
  /**
   * Starts a request that the caller sends and reads, as a proxy does; it has no time limit.
   *
   * @throws Error when a credential plugin fails
   */
  start(request: StartedRequest): Promise<HttpRequest>;
  close(): void;
}

/** The start of a request. */
export interface StartedRequest {
  readonly method: string;
  /** Path and query, encoded. */
  readonly path: string;
  /** Those of the credentials are added. */
  readonly headers: OutgoingHttpHeaders;
}

/** Creates a client. @throws Error with client-go's message if the kubeconfig is invalid */
export async function openClient(config: Kubeconfig, options: ClientOptions): Promise<Client> {
  const { cluster, user, namespace } = await selectContext(config, options.context);
  const server = serverOf(cluster);
  const ca = cluster["certificate-authority-data"] || (await contentOfFile(cluster["certificate-authority"]));
  if (cluster.insecure && ca !== undefined)
    throw new Error("specifying a root certificates file with the insecure flag is not allowed");
  const own = await ownCredentials(user);
  const exec =
    own === undefined && user.exec !== undefined
      ? execCredentials(user.exec, execClusterOf(cluster, server, ca), options.environment)
      : undefined;
  const agents = agentsFor({ cluster, ca });
  const authenticate = async (): Promise<Authenticated> => {
    const credentials = own ?? (await pluginCredentials(exec));
    const onAnswer = async ({ statusCode }: IncomingMessage): Promise<void> => {
      if (statusCode === 401 && exec !== undefined && credentials !== undefined) await exec.reject(credentials);
    };
    const headers = { ...impersonation(user), ...authorization(user, credentials) };
    return { headers, agent: agents.with(credentials), onAnswer };
  };
  const open = async (request: ClientRequest): Promise<IncomingMessage> => {
    const { headers, agent, onAnswer } = await authenticate();
    const answer = await exchange(
      { ...request, headers: { ...headers, ...request.headers } },
      { server, agent, timeoutMs: options.timeoutMs ?? 30_000 },
    );
    await onAnswer(answer);
    return answer;
  };
  const start = async ({ method, path, headers }: StartedRequest): Promise<HttpRequest> => {
    const { headers: own, agent, onAnswer } = await authenticate();
    const request = https.request(server + path, { method, agent, headers: { ...headers, ...mutable(own) } });
    request.once("response", (answer) => {
      onAnswer(answer).catch((error: Error) => answer.destroy(error));
    });
    return request;
  };
  const send = async (request: ClientRequest): Promise<ClientAnswer> => collect(await open(request));
  return { server, namespace, send, open, start, close: () => agents.close() };
}

/** What a request gets from the user of the kubeconfig. */
interface Authenticated {
  readonly headers: Headers;
  readonly agent: https.Agent;
  /** To be called with the answer: a rejected credential is not used again. */
  onAnswer(answer: IncomingMessage): Promise<void>;
}

async function selectContext(
  config: Kubeconfig,
  requested: string | undefined,
): Promise<{ cluster: ClusterConfig; user: UserConfig; namespace: string }> {
  const name = requested ?? config.currentContext;
  const context = config.contexts.get(name);
  if (name !== "" && context === undefined)
    throw new Error(requested === undefined ? notFound(name) : `context ${quoteGo(name)} does not exist`);
  const cluster = config.clusters.get(context?.cluster ?? "");
  if (context === undefined || cluster === undefined)
    throw new Error(
      "no kubeconfig was found: name one with --kubeconfig or KUBECONFIG, such as the file kubeconfig in the --data-dir of a server",
    );
  const user = config.users.get(context.user) ?? emptyUser;
  const providers =
    user.authProvider && user.exec === undefined
      ? [`auth providers are not supported, but ${context.user} has one`]
      : [];
  const problems = [
    ...(await userProblems(context.user, user)),
    ...providers,
    ...(await clusterProblems(context.cluster, cluster)),
  ];
  const invalid = invalidConfiguration(problems);
  if (invalid !== undefined) throw invalid;
  return { cluster, user, namespace: context.namespace || "default" };
}

function notFound(context: string): string {
  return `invalid configuration: context was not found for specified context: ${context}`;
}

/** Only https is allowed, because requests carry credentials. */
function serverOf({ server }: ClusterConfig): string {
  const url = URL.parse(server);
  if (url?.protocol !== "https:") throw new Error(`the server must be an https URL: ${quoteGo(server)}`);
  return url.origin + trimEndOf(url.pathname, "/");
}

/**
 * Credentials in the kubeconfig itself; undefined if there are none, so that the credential plugin
 * is used.
 */
async function ownCredentials(user: UserConfig): Promise<Credentials | undefined> {
  const cert = user["client-certificate-data"] || (await contentOfFile(user["client-certificate"]));
  const key = user["client-key-data"] || (await contentOfFile(user["client-key"]));
  const token = user.token || ((await contentOfFile(user.tokenFile)) ?? "").trim();
  if (cert !== undefined && key !== undefined) return { token, cert, key };
  const isBasic = user.username !== "" || user.password !== "";
  return token === "" && !isBasic && user.exec !== undefined ? undefined : { token };
}

async function pluginCredentials(exec: ExecCredentials | undefined): Promise<Credentials | undefined> {
  try {
    return await exec?.get();
  } catch (error) {
    throw error instanceof Error ? new Error(`getting credentials: ${error.message}`, { cause: error }) : error;
  }
}

function execClusterOf(cluster: ClusterConfig, server: string, ca: string | undefined): ExecCluster {
  const { insecure, disableCompression, execExtension: config } = cluster;
  return {
    server,
    serverName: cluster["tls-server-name"],
    insecure,
    ca,
    proxyUrl: cluster["proxy-url"],
    disableCompression,
    config,
  };
}

type Headers = Record<string, string | readonly string[]>;

function authorization({ username, password }: UserConfig, credentials: Credentials | undefined): Headers {
  if (credentials !== undefined && credentials.token !== "") return { authorization: `Bearer ${credentials.token}` };
  if (username === "" && password === "") return {};
  return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString("base64")}` };
}

function impersonation(user: UserConfig): Headers {
  if (user.as === "") return {};
  const extra = [...user.asExtra].map(([key, values]) => [`impersonate-extra-${escaped(key)}`, values] as const);
  return {
    "impersonate-user": user.as,
    ...(user["as-uid"] !== "" && { "impersonate-uid": user["as-uid"] }),
    ...(user.asGroups.length > 0 && { "impersonate-group": user.asGroups }),
    ...Object.fromEntries(extra),
  };
}

/** Percent-encodes the bytes that a header name must not contain. */
function escaped(key: string): string {
  return Array.from(Buffer.from(key), (byte) => {
    const character = String.fromCharCode(byte);
    return /[!#$&'*+.^_`|~0-9A-Za-z-]/.test(character)
      ? character
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }).join("");
}

interface Agents {
  /**
   * Returns the agent for a client certificate; a change of the certificate closes the connections
   * of the previous one.
   */
  with(credentials: Credentials | undefined): https.Agent;
  close(): void;
}

function agentsFor({ cluster, ca }: { cluster: ClusterConfig; ca: string | undefined }): Agents {
  const proxy = cluster["proxy-url"];
  const settings: https.AgentOptions = {
    keepAlive: true,
    ...(ca !== undefined && { ca }),
    ...(cluster["tls-server-name"] !== "" && { servername: cluster["tls-server-name"] }),
    ...(cluster.insecure && { rejectUnauthorized: false }),
    ...(proxy !== "" && { proxyEnv: { HTTPS_PROXY: proxy } }),
  };
  let current:
    | { readonly cert: string | undefined; readonly key: string | undefined; readonly agent: https.Agent }
    | undefined;
  return {
    with(credentials) {
      const { cert, key } = credentials ?? {};
      if (current !== undefined && current.cert === cert && current.key === key) return current.agent;
      current?.agent.destroy();
      current = { cert, key, agent: new https.Agent({ ...settings, ...(cert !== undefined && { cert, key }) }) };
      return current.agent;
    },
    close: () => current?.agent.destroy(),
  };
}

/** Limit of the bytes of one answer. */
const answerBytesMax = 64 << 20;

interface Connection {
  readonly server: string;
  readonly agent: https.Agent;
  readonly timeoutMs: number;
}

function exchange(
  { method, path, headers = {}, body }: ClientRequest,
  { server, agent, timeoutMs }: Connection,
): Promise<IncomingMessage> {
  const payload = body === undefined ? undefined : Buffer.from(encodeAny(body));
  const sent = { accept: "application/json", "user-agent": "coxswain", ...mutable(headers) };
  if (payload !== undefined)
    Object.assign(sent, { "content-type": "application/json", "content-length": String(payload.length) });
  return new Promise((resolve, reject) => {
    const request = https.request(
      server + path,
      { method, agent, headers: sent, signal: AbortSignal.timeout(timeoutMs) },
      resolve,
    );
    request.on("error", reject);
    request.end(payload);
  });
}

/** Node's types need arrays that can be changed. */
function mutable(headers: Headers): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, typeof value === "string" ? value : [...value]]),
  );
}

async function collect(response: IncomingMessage): Promise<ClientAnswer> {
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of response as AsyncIterable<Buffer>) {
    pieces.push(piece);
    bytes += piece.length;
    if (bytes > answerBytesMax) throw new Error(`the answer has more than ${answerBytesMax} bytes`);
  }
  return { status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(pieces) };
}
