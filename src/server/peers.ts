/** Builds the proxy for resources that only other servers over the same store serve. */
import { hostname } from "node:os";
import type { FeatureGates } from "../apimachinery/feature-gates.ts";
import { openLiveFiles } from "../apimachinery/followed-files.ts";
import { randomFraction } from "../apimachinery/random.ts";
import { serverIdentity } from "../apimachinery/server-identity.ts";
import { peerRecords, readPeerAddresses } from "../controllers/server-identity/peer-addresses.ts";
import { readAuthorities } from "../forwarding/aggregator/authorities.ts";
import type { DiscoveryObserver, PeerGroups } from "../forwarding/aggregator/peers/contract.ts";
import { mergePeerGroups } from "../forwarding/aggregator/peers/merge-groups.ts";
import { openPeerDocuments } from "../forwarding/aggregator/peers/peer-documents.ts";
import { type PeerRequests, peerRequests } from "../forwarding/aggregator/peers/peer-requests.ts";
import { peerTransport } from "../forwarding/aggregator/peers/peer-transport.ts";
import { joinErrors } from "../lib/json/quote.ts";
import { peerMetrics } from "../metrics/peer-metrics.ts";
import type { RegistryContext } from "../registry/contract.ts";
import type { Address } from "../webhook/contract.ts";
import { advertisedAddress } from "./addresses.ts";
import type { ServerAggregation } from "./aggregation.ts";
import type { Closers } from "./closers.ts";
import type { ServerMetrics } from "./metrics.ts";
import type { ServerOptions } from "./options.ts";
import type { ServerState } from "./state.ts";

const gate = "UnknownVersionInteroperabilityProxy";

/** The proxy of a server with the gate UnknownVersionInteroperabilityProxy. */
export interface ServerPeers {
  /** Undefined without `--peer-ca-file`, as `groups`. */
  readonly requests: PeerRequests | undefined;
  readonly groups: PeerGroups | undefined;
  readonly observeDiscovery: DiscoveryObserver;
}

interface Needs {
  readonly registry: RegistryContext;
  readonly aggregation: ServerAggregation;
  readonly metrics: ServerMetrics;
  readonly closers: Closers;
}

/** @throws Error with upstream's message when an option needs the gate or another option */
export function checkPeerOptions(options: ServerOptions, gates: FeatureGates): void {
  const { peerCaFile, peerAdvertiseIp, peerAdvertisePort } = options;
  if (gates.enabled(gate)) {
    if (peerCaFile === undefined) return;
    for (const [name, file] of [
      ["cert", options.proxyClientCertFile] as const,
      ["key", options.proxyClientKeyFile] as const,
    ])
      if (file === undefined) throw new Error(`error building peer proxy handler, proxy-${name}-file not specified`);
    return;
  }
  const flags = {
    "peer-ca-file": peerCaFile,
    "peer-advertise-ip": peerAdvertiseIp,
    "peer-advertise-port": peerAdvertisePort,
  };
  const used = Object.entries(flags).filter(([, value]) => value !== undefined);
  if (used.length === 0) return;
  throw new Error(joinErrors(used.map(([flag]) => `--${flag} requires ${gate} feature to be turned on`)));
}

/** The identity of a server. */
export function identityOf(options: Pick<ServerOptions, "hostname">): string {
  return serverIdentity(hostnameOf(options));
}

/** The name of the host of a server. */
export function hostnameOf(options: Pick<ServerOptions, "hostname">): string {
  return options.hostname ?? hostname();
}

/** Where peers reach this server; undefined when no network interface has an address. */
export function peerAddress(options: ServerOptions, { port }: Pick<ServerState, "port">): Address | undefined {
  const { peerAdvertiseIp, peerAdvertisePort } = options;
  if (peerAdvertiseIp !== undefined && peerAdvertisePort !== undefined)
    return { host: peerAdvertiseIp, port: peerAdvertisePort };
  const host = advertisedAddress(options);
  return host === undefined ? undefined : { host, port };
}

/**
 * Starts to follow the other servers with `--peer-ca-file`.
 * @returns undefined without the gate
 * @throws Error when the file cannot be read or is not valid
 */
export async function openPeers(options: ServerOptions, needs: Needs): Promise<ServerPeers | undefined> {
  const { registry, aggregation, metrics, closers } = needs;
  const { catalog, gates } = registry;
  const { clock, logger, peerCaFile } = options;
  if (!gates.enabled(gate)) return undefined;
  const { observer, discovery, collect } = peerMetrics();
  metrics.add(collect);
  if (peerCaFile === undefined) return { requests: undefined, groups: undefined, observeDiscovery: discovery };
  const authorities = await authorityFile(options, peerCaFile);
  closers.add(() => authorities.close());
  authorities.follow(() => {});
  const self = identityOf(options);
  const records = peerRecords(registry);
  const parts = {
    catalog,
    clock,
    logger,
    observer,
    readAddresses: () => readPeerAddresses(records),
    connect: peerTransport(() => ({ authorities: authorities.current(), certificate: aggregation.certificate() })),
  };
  const documents = openPeerDocuments({ ...parts, self, apiServices: aggregation.services });
  closers.add(() => documents.close());
  return {
    requests: peerRequests({ ...parts, documents, random: () => randomFraction(registry.random) }),
    groups: {
      get generation() {
        return documents.generation;
      },
      merge: (own) =>
        mergePeerGroups(self, own, new Map([...documents.current()].map(([id, { groups }]) => [id, groups]))),
    },
    observeDiscovery: discovery,
  };
}

function authorityFile({ clock, logger }: ServerOptions, file: string): ReturnType<typeof openLiveFiles<string>> {
  const parse = ([text = ""]: readonly string[]): string => readAuthorities(text);
  return openLiveFiles({ name: `peer-ca-bundle::${file}`, files: [file], parse, clock, logger });
}
