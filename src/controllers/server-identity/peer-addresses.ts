/**
 * The addresses at which servers over one store reach each other, by the identity of the server.
 * kube-apiserver has the same keys and values, and no client of the API can write them. Source:
 * `k8s.io/apiserver@v0.36.0/pkg/reconcilers/peer_endpoint_lease.go`.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { Logger } from "../../apimachinery/logger.ts";
import type { KubeObject } from "../../apimachinery/object.ts";
import { repeat } from "../../apimachinery/repeat.ts";
import { within } from "../../apimachinery/within.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { type ServerRecords, serverRecords } from "../../registry/server-records.ts";
import type { Address } from "../../webhook/contract.ts";

const identityRecordLabel = "apiserverIdentity";
const intervalMs = 10_000;
const stopTimeoutMs = 2 * intervalMs;

/** The records of a store; undefined in a catalog without Endpoints, which are their values. */
export function peerRecords(registry: RegistryContext): ServerRecords | undefined {
  return serverRecords(registry, "/registry/peerserverleases/");
}

/** @returns the addresses of all servers that run, by identity @throws errors as those of {@link ServerRecords.list} */
export async function readPeerAddresses(records: ServerRecords | undefined): Promise<ReadonlyMap<string, Address>> {
  const found = new Map<string, Address>();
  for (const record of (await records?.list()) ?? []) {
    const identity = record.metadata.labels?.[identityRecordLabel];
    const [subset] = record.subsets ?? [];
    const host: string | undefined = subset?.addresses?.[0]?.ip;
    const port: number | undefined = subset?.ports?.[0]?.port;
    if (identity !== undefined && host && port) found.set(identity, { host, port });
  }
  return found;
}

interface AddressControllerOptions {
  readonly records: ServerRecords;
  readonly identity: string;
  readonly address: Address;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface AddressController {
  /** Writes the record for the first time. Does not reject. */
  start(): Promise<void>;
  /** Removes the record. Does not reject. */
  stop(): Promise<void>;
}

/** Creates the controller that maintains the record of this server. */
export function peerAddressController(options: AddressControllerOptions): AddressController {
  const { records, identity, clock, logger } = options;
  const record = recordOf(options);
  let isStopped = false;
  let cancel = (): void => {};
  let running: Promise<void> = Promise.resolve();
  const failed =
    (what: string) =>
    (error: unknown): void =>
      logger.error(what, { error: String(error) });
  const renew = (): void => {
    running = running.then(() => (isStopped ? undefined : records.renew(identity, record)));
    running = running.catch(failed("Unable to update peer endpoint leases"));
  };
  const remove = async (): Promise<void> => {
    await running;
    await records.remove(identity).catch(failed("Unable to remove peer endpoint leases"));
  };
  return {
    async start() {
      renew();
      cancel = repeat(clock, intervalMs, renew);
      await running;
    },
    async stop() {
      if (isStopped) return;
      isStopped = true;
      cancel();
      await within(clock, stopTimeoutMs, remove());
    },
  };
}

function recordOf({ identity, address: { host, port } }: AddressControllerOptions): KubeObject {
  const ports = [{ name: "https", port, protocol: "TCP" }];
  return {
    metadata: { labels: { [identityRecordLabel]: identity } },
    subsets: [{ addresses: [{ ip: host }], ports }],
  };
}
