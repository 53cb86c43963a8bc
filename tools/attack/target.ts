/** The attacked server. */
import https from "node:https";
import tls from "node:tls";
import { type ClusterConfig, readKubeconfig, type UserConfig } from "../../src/lib/kubeconfig/kubeconfig.ts";

export interface AttackRequest {
  readonly method?: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Objects are sent as JSON. */
  readonly body?: string | object;
  /** Sends no credentials. */
  readonly anonymous?: boolean;
}

export interface Answer {
  readonly status: number;
  readonly text: string;
  /** Bytes of the request: path, headers and body. */
  readonly sentBytes: number;
}

/** A server, and the rights of an administrator. */
export interface Target {
  /** Of the run; removed at its end. */
  readonly namespace: string;
  send(request: AttackRequest): Promise<Answer>;
  /** Opens a TLS connection. @param protocol `h2` or `http/1.1` */
  connect(protocol: "h2" | "http/1.1"): tls.TLSSocket;
  /** `host:port` */
  readonly authority: string;
  close(): void;
}

/** How long the client waits for an answer. */
const answerMs = 120_000;
const answerCharactersMax = 1 << 20;

/** @param file a kubeconfig file, whose current context is used @throws Error when it has no server */
export async function openTarget(file: string): Promise<Target> {
  const config = await readKubeconfig(file);
  const context = config.contexts.get(config.currentContext);
  const cluster = config.clusters.get(context?.cluster ?? "");
  if (cluster === undefined) throw new Error(`${file} has no cluster in its current context`);
  const server = new URL(cluster.server);
  const user = config.users.get(context?.user ?? "");
  const trust = trustOf(cluster);
  const known = { ...trust, ...certificateOf(user) };
  const agents = { known: new https.Agent({ keepAlive: true, ...known }), anonymous: new https.Agent(trust) };
  const token: Record<string, string> =
    user === undefined || user.token === "" ? {} : { authorization: `Bearer ${user.token}` };
  return {
    namespace: `attack-${process.pid}`,
    authority: server.host,
    send({ anonymous = false, headers, ...request }) {
      const all = { ...(anonymous ? {} : token), ...headers };
      return send(server, anonymous ? agents.anonymous : agents.known, { ...request, headers: all });
    },
    connect(protocol) {
      const port = Number(server.port === "" ? 443 : server.port);
      return tls.connect({ host: server.hostname, port, ALPNProtocols: [protocol], ...known });
    },
    close() {
      agents.known.destroy();
      agents.anonymous.destroy();
    },
  };
}

function trustOf(cluster: ClusterConfig): https.AgentOptions {
  const data = cluster["certificate-authority-data"];
  return {
    ...(data !== "" && { ca: data }),
    ...(cluster.insecure && { rejectUnauthorized: false }),
    ...(cluster["tls-server-name"] !== "" && { servername: cluster["tls-server-name"] }),
  };
}

function certificateOf(user: UserConfig | undefined): https.AgentOptions {
  const cert = user?.["client-certificate-data"] ?? "";
  return cert === "" ? {} : { cert, key: user?.["client-key-data"] };
}

function send(
  server: URL,
  agent: https.Agent,
  { method = "GET", path, headers, body }: AttackRequest,
): Promise<Answer> {
  const payload = body === undefined ? undefined : Buffer.from(typeof body === "string" ? body : JSON.stringify(body));
  const sent: Record<string, string> = {
    ...(payload !== undefined && { "content-type": "application/json", "content-length": String(payload.length) }),
    ...headers,
  };
  const sentBytes = path.length + JSON.stringify(sent).length + (payload?.length ?? 0);
  return new Promise((resolve, reject) => {
    const request = https.request(
      { host: server.hostname, port: server.port, method, path, headers: sent, agent, timeout: answerMs },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (piece: string) => {
          if (text.length < answerCharactersMax) text += piece;
        });
        response.on("error", reject);
        response.on("end", () => resolve({ status: response.statusCode ?? 0, text, sentBytes }));
      },
    );
    request.on("timeout", () => request.destroy(new Error(`no answer in ${answerMs / 1000} s`)));
    request.on("error", reject);
    request.end(payload);
  });
}
