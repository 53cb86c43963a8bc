/** Requests to a server while its etcd is down. `npm run golden etcd-down` records upstream's answers. */
import type { EtcdCluster } from "../../support/etcd.ts";
import type { Answer, RawClient, RawRequest } from "../../support/raw-client.ts";
import { until } from "../../support/until.ts";

/** How etcd fails. */
export const faults = ["killed", "stopped"] as const;
export type Fault = (typeof faults)[number];

/** One answer; addresses and times are replaced. */
export interface Row {
  readonly fault: Fault;
  readonly request: string;
  readonly status: number;
  readonly contentType?: string;
  readonly retryAfter?: string;
  /** The fields of a Status without its kind and version; the lines of a health check; events of a watch. */
  readonly answer?: unknown;
  /** How long it took. */
  readonly seconds: number;
}

/** The state before etcd fails. */
interface Before {
  readonly revision: number;
  readonly continueToken: string;
}

const maps = "/api/v1/namespaces/down/configmaps";
const merge = { "content-type": "application/merge-patch+json" };
const apply = { "content-type": "application/apply-patch+yaml" };
const map = (name: string): object => ({ metadata: { name }, data: { by: name } });

/** Requests by name. `N` in a name is the revision of the newest object. */
function requestsOf({ revision, continueToken }: Before): Record<string, RawRequest> {
  const future = revision + 1_000_000;
  const get = (query: string): RawRequest => ({ path: `${maps}${query}` });
  const watch = (query: string): RawRequest => get(`?watch=1&timeoutSeconds=3&${query}`);
  return {
    list: get(""),
    "list of one": get("?limit=1"),
    "list of the next": get(`?limit=1&continue=${continueToken}`),
    "list at 0": get("?resourceVersion=0"),
    "list not older than N": get(`?resourceVersion=${revision}`),
    "list exactly at N": get(`?resourceVersion=${revision}&resourceVersionMatch=Exact`),
    "list in the future": get(`?resourceVersion=${future}`),
    "list of events": { path: "/api/v1/namespaces/down/events" },
    "list of events at 0": { path: "/api/v1/namespaces/down/events?resourceVersion=0" },
    get: get("/a"),
    "get at 0": get("/a?resourceVersion=0"),
    "get at N": get(`/a?resourceVersion=${revision}`),
    "get in the future": get(`/a?resourceVersion=${future}`),
    "get of nothing at 0": get("/none?resourceVersion=0"),
    watch: watch(""),
    "watch at 0": watch("resourceVersion=0"),
    "watch at N": watch(`resourceVersion=${revision}`),
    "watch list": watch("sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"),
    create: { method: "POST", path: maps, body: map("b") },
    "create without persistence": { method: "POST", path: `${maps}?dryRun=All`, body: map("b") },
    "create with errors": { method: "POST", path: maps, body: map("B") },
    "create in no namespace": { method: "POST", path: maps.replace("down", "none"), body: map("b") },
    "create an event": {
      method: "POST",
      path: "/api/v1/namespaces/down/events",
      body: { metadata: { name: "e" }, involvedObject: { namespace: "down", name: "a", kind: "ConfigMap" } },
    },
    update: { method: "PUT", path: `${maps}/a`, body: map("a") },
    patch: { method: "PATCH", path: `${maps}/a`, headers: merge, body: { data: { by: "patch" } } },
    apply: {
      method: "PATCH",
      path: `${maps}/a?fieldManager=m`,
      headers: apply,
      body: { apiVersion: "v1", kind: "ConfigMap", ...map("a") },
    },
    delete: { method: "DELETE", path: `${maps}/a` },
    "delete all": { method: "DELETE", path: maps },
    "token of an account": {
      method: "POST",
      path: "/api/v1/namespaces/down/serviceaccounts/s/token",
      body: { spec: {} },
    },
    "review of access": {
      method: "POST",
      path: "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
      body: { spec: { resourceAttributes: { verb: "get", resource: "configmaps" } } },
    },
    "/version": { path: "/version" },
    "/apis": { path: "/apis" },
    "/livez": { path: "/livez" },
    "/readyz": { path: "/readyz" },
    "/healthz": { path: "/healthz" },
    "/livez/etcd": { path: "/livez/etcd" },
    "/readyz/etcd": { path: "/readyz/etcd" },
    "/readyz/etcd-readiness": { path: "/readyz/etcd-readiness" },
    "/healthz/etcd": { path: "/healthz/etcd" },
    "/readyz/ping": { path: "/readyz/ping" },
  };
}

/** Waits until the server is ready, creates objects, and loads the caches of their kinds. */
async function prepare(client: RawClient): Promise<Before> {
  await until(async () => (await client.send({ path: "/readyz" })).status === 200);
  const post = (path: string, body: object): Promise<Answer> => client.send({ method: "POST", path, body });
  await post("/api/v1/namespaces", { metadata: { name: "down" } });
  await post("/api/v1/namespaces/down/serviceaccounts", { metadata: { name: "s" } });
  for (const name of ["a", "c"]) await post(maps, map(name));
  for (const resource of ["configmaps", "events", "serviceaccounts"])
    await client.send({ path: `/api/v1/namespaces/down/${resource}?resourceVersion=0` });
  const chunk = (await client.send({ path: `${maps}?limit=1` })).body;
  return { revision: Number(chunk.metadata.resourceVersion), continueToken: chunk.metadata.continue };
}

interface DownOptions {
  readonly fault: Fault;
  /** Called after etcd has failed, before the requests. */
  readonly settled: () => Promise<unknown>;
  /** The parameter `timeout` of requests; the limits of the server apply without it. */
  readonly timeout?: string;
}

/** Sends all requests at once while etcd is down. */
export async function answersWhileDown(
  client: RawClient,
  { members: [member] }: EtcdCluster,
  { fault, settled, timeout }: DownOptions,
): Promise<Row[]> {
  const requests = requestsOf(await prepare(client));
  if (fault === "stopped") member?.pause();
  else await member?.kill();
  await settled();
  const rows = await Promise.all(
    Object.entries(requests).map(async ([name, { path, ...rest }]) => {
      const limit = timeout === undefined ? "" : `${path.includes("?") ? "&" : "?"}timeout=${timeout}`;
      const request = { ...rest, path: path + limit };
      const since = Date.now();
      const answer = await client.send(request).catch((error: Error) => failed(error));
      return rowOf(fault, name, answer, (Date.now() - since) / 1000);
    }),
  );
  if (fault === "stopped") member?.resume();
  else await member?.start();
  return rows;
}

/** A connection that the server has closed. */
function failed({ message }: Error): Answer {
  return { status: 0, headers: {}, bytes: Buffer.of(), text: `{"message":"${message}"}`, body: undefined };
}

function rowOf(fault: Fault, request: string, { status, headers, text }: Answer, seconds: number): Row {
  const { "content-type": contentType, "retry-after": retryAfter } = headers as Record<string, string>;
  const answer = answerOf(request, text, status);
  return {
    fault,
    request,
    status,
    ...(contentType !== undefined && { contentType }),
    ...(retryAfter !== undefined && { retryAfter }),
    ...(answer !== undefined && { answer }),
    seconds: Math.round(seconds),
  };
}

function answerOf(request: string, text: string, status: number): unknown {
  const shown = text.replace(/127\.0\.0\.1:\d+/g, "ADDRESS").replace(/(version: |current: )\d+/g, "$1N");
  if (request.startsWith("watch") && status === 200)
    return shown
      .split("\n")
      .filter((line) => line !== "")
      .map(eventOf);
  if (status >= 200 && status < 400) return undefined;
  if (request.startsWith("/")) return shown.split("\n").filter((line) => !line.startsWith("[+]") && line !== "");
  const { kind: _kind, apiVersion: _version, metadata: _metadata, ...fields } = JSON.parse(shown);
  return fields;
}

function eventOf(line: string): string {
  const { type, object } = JSON.parse(line);
  return type === "ERROR"
    ? `${type} ${object.code} ${object.reason} ${object.message}`
    : `${type} ${object.metadata?.name ?? ""}`;
}
