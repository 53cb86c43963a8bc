/** Clients of a server for tests: a fetch with credentials, and kubeconfigs of any user. */
import type { IncomingMessage } from "node:http";
import type { Agent } from "node:https";
import type { Clock } from "../apimachinery/clock.ts";
import { isConnectTarget, isWatchTarget } from "../request/request-info.ts";
import type { RunningServer } from "../server/options.ts";
import { certificateTimes, issueClient, type KeyPair } from "../server/serving/certificates.ts";
import { formatKubeconfig } from "../server/serving/kubeconfig.ts";
import type { ServingSetup } from "../server/serving/serving-setup.ts";
import type { TestClient, TestClients, TestRequest, TestResponse, TestUser } from "./contract.ts";
import { kitAgent } from "./kit-agent.ts";
import { tokenOf } from "./service-account-token.ts";

/** Clients that are closed after their server. */
export interface OpenClients {
  readonly clients: TestClients;
  close(): void;
}

/** Users whose connections stay open; those of the user that was added first are closed when there are more. */
const connectedUsersMax = 64;
/** Connections of one user for requests that end by themselves; further ones wait. */
const connectionsMax = 256;

/** The certificates of users, which are issued once. */
interface UserCertificates {
  /** @throws TypeError when the user has no name */
  of(user: TestUser): Promise<KeyPair>;
  credentials(as: TestRequest["as"]): Promise<TlsCredentials>;
}

function userCertificates(serving: ServingSetup, clock: Clock): UserCertificates {
  const issued = new Map<string, Promise<KeyPair>>();
  const of: UserCertificates["of"] = ({ user, groups = [] }) => {
    if (typeof user !== "string" || user === "") throw new TypeError("a user needs a name: { user: NAME }");
    const subject = { commonName: user, organizations: groups };
    return remembered(issued, JSON.stringify([user, groups]), () =>
      issueClient(serving.clientAuthority, subject, certificateTimes(clock)),
    );
  };
  return {
    of,
    async credentials(as) {
      const pair = as === undefined ? serving.admin : as === "anonymous" ? {} : await of(as);
      return { ca: serving.caBundle, ...pair };
    },
  };
}

/** The connections of users. */
interface Agents {
  of(as: TestRequest["as"]): Promise<Agent>;
  /** Of watches and other long requests: they have connections of their own, so that no request waits for their end. */
  unlimited(): Promise<Agent>;
  close(): void;
}

function openAgents({ credentials }: UserCertificates): Agents {
  const agents = new Map<string, Promise<Agent>>();
  let unlimited: Promise<Agent> | undefined;
  const open = async (as: TestRequest["as"]): Promise<Agent> => {
    const { Agent } = await import("node:https"); // With the first request: it loads much.
    return new Agent({ keepAlive: true, maxSockets: connectionsMax, ...(await credentials(as)) });
  };
  return {
    of(as) {
      const key = JSON.stringify(as === undefined || typeof as === "string" ? (as ?? "admin") : [as.user, as.groups]);
      return remembered(agents, key, () => open(as), destroy);
    },
    unlimited() {
      unlimited ??= import("node:https").then(({ Agent }) => new Agent());
      return unlimited;
    },
    close() {
      agents.forEach(destroy);
      if (unlimited !== undefined) destroy(unlimited);
    },
  };
}

/** Creates the clients of a server. */
export function openClients({ url, kubeconfig }: RunningServer, serving: ServingSetup, clock: Clock): OpenClients {
  const certificates = userCertificates(serving, clock);
  const agents = openAgents(certificates);
  const clients: TestClients = {
    async fetch(path, request = {}) {
      if (typeof path !== "string" || !path.startsWith("/"))
        throw new Error(`the path must start with "/": ${JSON.stringify(path)}`);
      const { host } = new URL(url);
      if (!isWatchTarget(path) && !isConnectTarget(path))
        return send(host, path, { request, agent: await agents.of(request.as) });
      const [agent, credentials] = await Promise.all([agents.unlimited(), certificates.credentials(request.as)]);
      return send(host, path, { request, agent, credentials });
    },
    async kubeconfigFor(user) {
      const admin = await certificates.of(user);
      return formatKubeconfig(url, { caBundle: serving.caBundle, admin, user: user.user });
    },
    async kubeConfig(type, user) {
      const config = new type();
      config.loadFromString(user === undefined ? kubeconfig : await clients.kubeconfigFor(user));
      return config;
    },
    async as(who) {
      if (!("serviceAccount" in who))
        return clientOf(clients, await clients.kubeconfigFor(who), undefined, { as: who });
      const { token, user } = await tokenOf(who, clients.fetch);
      const headers = { authorization: `Bearer ${token}` };
      const config = formatKubeconfig(url, { caBundle: serving.caBundle, token, user });
      return clientOf(clients, config, token, { as: "anonymous", headers });
    },
  };

  return { clients, close: agents.close };
}

/** @param own the credentials of its requests */
function clientOf(
  { fetch }: TestClients,
  kubeconfig: string,
  token: string | undefined,
  own: Pick<TestRequest, "as" | "headers">,
): TestClient {
  return {
    token,
    kubeconfig,
    fetch: (path, init) => fetch(path, { ...init, ...own, headers: { ...init?.headers, ...own.headers } }),
    kubeConfig(type) {
      const loaded = new type();
      loaded.loadFromString(kubeconfig);
      return loaded;
    },
  };
}

function destroy(agent: Promise<Agent>): void {
  agent.then(
    (opened) => opened.destroy(),
    () => {}, // The request that needed it has failed.
  );
}

/** @param drop is called with the first value when there are more than {@link connectedUsersMax} */
function remembered<V>(values: Map<string, V>, key: string, make: () => V, drop?: (value: V) => void): V {
  const known = values.get(key);
  if (known !== undefined) return known;
  const [first] = values;
  if (values.size >= connectedUsersMax && first !== undefined) {
    values.delete(first[0]);
    drop?.(first[1]);
  }
  const made = make();
  values.set(key, made);
  return made;
}

type TlsCredentials = Partial<KeyPair> & { readonly ca: string };

interface Sent {
  readonly request: TestRequest;
  readonly agent: Agent;
  /** If they are not those of the agent. */
  readonly credentials?: TlsCredentials;
}

async function send(host: string, path: string, { request, agent, credentials }: Sent): Promise<TestResponse> {
  const { request: open } = await import("node:https");
  const { method = "GET", body, signal } = request;
  const payload = payloadOf(body);
  const headers = { ...defaultHeaders(request, payload), ...lowerCased(request.headers) };
  const options = {
    method,
    agent,
    headers,
    ...credentials,
    ...(signal !== undefined && { signal: signal as AbortSignal }),
  };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    const sending = open(`https://${host}${path}`, options, resolve);
    sending.on("error", reject);
    sending.end(payload);
  });
  return responseOf(answer);
}

function payloadOf(body: TestRequest["body"]): string | Uint8Array | undefined {
  return body === undefined || typeof body === "string" || body instanceof Uint8Array ? body : JSON.stringify(body);
}

function defaultHeaders({ method, body }: TestRequest, payload: string | Uint8Array | undefined): object {
  const isObject = payload !== undefined && payload !== body;
  const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
  return {
    accept: "application/json",
    "user-agent": kitAgent,
    ...(isObject && { "content-type": type }),
    ...(payload !== undefined && { "content-length": String(Buffer.byteLength(payload)) }),
  };
}

function lowerCased(headers: TestRequest["headers"] = {}): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

async function responseOf(answer: IncomingMessage): Promise<TestResponse> {
  const { Readable } = await import("node:stream");
  const status = answer.statusCode as number;
  const hasBody = status !== 204 && status !== 304;
  const headers = Object.entries(answer.headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((one): [string, string] => [name, one]),
  );
  if (!hasBody) answer.resume();
  const body = hasBody ? (Readable.toWeb(answer) as ReadableStream<Uint8Array>) : null;
  return new Response(body, { status, headers }) as TestResponse;
}
