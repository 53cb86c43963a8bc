/** Reads what a server serves. */
import { ask, type Json, RequestRejected, type Sender } from "../client/ask.ts";
import type { Client } from "../client/client.ts";
import { type Counted, countObjects } from "./count-objects.ts";
import { readDiscovery } from "./read-discovery.ts";
import { countRunningNodes, type HeldLease, type Replica, readLeases } from "./read-leases.ts";

/** What `coxswain status -o json` prints. Members that the user may not read are absent. */
export interface Status {
  readonly server: string;
  readonly version: string;
  readonly platform: string;
  readonly ready: boolean;
  /** Names of the failing checks of /readyz. */
  readonly failingChecks: readonly string[];
  readonly uptimeSeconds?: number;
  /** The storage engine of Coxswain: `lmdb`, `memory` or `etcd`. */
  readonly storage?: string;
  /** Of the Service kubernetes. */
  readonly addresses?: readonly string[];
  /** The servers over the same store. */
  readonly servers?: readonly Replica[];
  readonly leases?: readonly HeldLease[];
  /** The number of nodes on which a kubelet, or a simulation of one, runs. Without any, nothing runs pods. */
  readonly runningNodes?: number;
  readonly groupVersions: readonly string[];
  readonly objects: readonly Counted[];
  /** Resources and paths that the user may not read. */
  readonly forbidden: readonly string[];
}

/**
 * @param now milliseconds since 1970
 * @throws Error if the server does not answer, or rejects requests for its version or discovery
 */
export async function readStatus(client: Client, now: number): Promise<Status> {
  const version = await versionOf(client);
  const readiness = await readReadiness(client);
  const forbidden: string[] = [];
  const optional = async <T>(what: string, read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof RequestRejected) || ![401, 403, 404].includes(error.status)) throw error;
      if (error.status !== 404) forbidden.push(what);
      return undefined;
    }
  };
  const metrics = await optional("/metrics", () => readMetrics(client, now));
  const addresses = await optional("endpointslices in default", () => readAddresses(client));
  const leases = await optional("leases in kube-system", () => readLeases(client, now));
  const runningNodes = await optional("leases in kube-node-lease", () => countRunningNodes(client, now));
  const { groupVersions, resources } = await readDiscovery(client);
  const counted = await countObjects(client, resources);
  return {
    server: client.server,
    version: String(version.gitVersion),
    platform: String(version.platform),
    ...readiness,
    ...metrics,
    ...(addresses && { addresses }),
    ...leases,
    ...(runningNodes !== undefined && { runningNodes }),
    groupVersions,
    objects: counted.objects,
    forbidden: [...forbidden, ...counted.forbidden],
  };
}

/** @throws Error that names the server */
async function versionOf(client: Client): Promise<Json> {
  try {
    return await ask(client, "GET", "/version");
  } catch (error) {
    if (error instanceof RequestRejected) throw error;
    throw new Error(`${client.server} does not answer: ${messageOf(error)}`, { cause: error });
  }
}

/** A connection to several addresses fails with several errors, and without a message. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

async function readReadiness(sender: Sender): Promise<Pick<Status, "ready" | "failingChecks">> {
  const { status, body } = await sender.send({ method: "GET", path: "/readyz?verbose", headers: { accept: "*/*" } });
  const failing = [...body.toString().matchAll(/^\[-\](\S+) failed/gm)].map(([, name]) => name as string);
  return { ready: status === 200, failingChecks: failing };
}

/** @throws RequestRejected */
async function readMetrics(sender: Sender, now: number): Promise<Pick<Status, "uptimeSeconds" | "storage">> {
  const { status, body } = await sender.send({ method: "GET", path: "/metrics", headers: { accept: "*/*" } });
  if (status >= 300) throw new RequestRejected(status, `/metrics: the server answered ${status}`);
  const text = body.toString();
  const [, started = Number.NaN] = /^process_start_time_seconds (\S+)$/m.exec(text) ?? [];
  const uptimeSeconds = Math.max(0, Math.round(now / 1000 - Number(started)));
  const info = text.split("\n").find((line) => line.startsWith("coxswain_storage_info{") && line.endsWith("} 1"));
  const [, storage] = /engine="([^"]*)"/.exec(info ?? "") ?? [];
  return { ...(!Number.isNaN(uptimeSeconds) && { uptimeSeconds }), ...(storage !== undefined && { storage }) };
}

/** @throws RequestRejected */
async function readAddresses(sender: Sender): Promise<string[]> {
  const selector = encodeURIComponent("kubernetes.io/service-name=kubernetes");
  const path = `/apis/discovery.k8s.io/v1/namespaces/default/endpointslices?labelSelector=${selector}`;
  const { items } = await ask(sender, "GET", path);
  return ((items ?? []) as Json[]).flatMap(({ endpoints, ports }) =>
    ((endpoints ?? []) as Json[]).flatMap(({ addresses }) =>
      ((addresses ?? []) as string[]).map((address) => withPort(address, ports?.[0]?.port)),
    ),
  );
}

function withPort(address: string, port: number | undefined): string {
  const host = address.includes(":") ? `[${address}]` : address;
  return port === undefined ? host : `${host}:${port}`;
}
