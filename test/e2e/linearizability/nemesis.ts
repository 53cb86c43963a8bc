/** Lets processes and connections of a cluster fail, one or two at a time, by a plan of random choices. */
import type { LinkState } from "../../support/faulty-network.ts";
import { peerLatency } from "../../support/peer-latency.ts";
import { weighted } from "./clients.ts";
import type { FaultyCluster } from "./cluster.ts";

export interface NemesisOptions {
  readonly cluster: FaultyCluster;
  readonly random: (below: number) => number;
  /** Compacts the history. */
  compact(): Promise<void>;
  /**
   * Waits before a fault, when so many have begun; a random time by default. With it, each kind of fault happens once,
   * in random order, and otherwise any number of times by its share.
   */
  calm?(begun: number): Promise<unknown>;
}

export interface Nemesis {
  /** How often each fault happened. */
  readonly counts: ReadonlyMap<string, number>;
  /** Stops; resolves when everything runs and is connected. */
  stop(): Promise<void>;
}

interface Fault {
  readonly name: string;
  /** The process that is stopped; it has one fault at a time, so that it is started once. */
  readonly process?: string;
  /** Parts of all faults. */
  readonly share: number;
  /** Milliseconds that it lasts at most. */
  readonly maxMs: number;
  begin(): void | Promise<void>;
  end(): void | Promise<void>;
}

/** How many kinds of faults there are. */
export const faultKinds = 10;

/** The time between two faults. */
const calmMs = { min: 50, max: 1_000 };

export function startNemesis({ cluster, random, compact, calm }: NemesisOptions): Nemesis {
  const counts = new Map<string, number>();
  const stoppedProcesses = new Set<string>();
  let stopped = false;
  const run = async (): Promise<void> => {
    while (!stopped) {
      await (calm?.(counts.size) ?? peerLatency(calmMs.min + random(calmMs.max)));
      if (stopped) return;
      const all = [...processFaults(cluster, random, compact), ...linkFaults(cluster, random)];
      const faults = calm === undefined ? all : all.filter(({ name }) => !counts.has(name));
      if (faults.length === 0) return;
      const fault = weighted(
        faults.map((one) => [one, one.share] as const),
        random,
      );
      const { process = "" } = fault;
      if (stoppedProcesses.has(process)) continue;
      if (process !== "") stoppedProcesses.add(process);
      counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
      await fault.begin();
      await peerLatency(random(fault.maxMs));
      await fault.end();
      stoppedProcesses.delete(process);
    }
  };
  // Two at a time, so that faults overlap.
  const running = [run(), run()];
  return {
    counts,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

type Random = (below: number) => number;

/** Faults of a randomly chosen server and member. */
function processFaults({ etcd, replicas }: FaultyCluster, random: Random, compact: () => Promise<void>): Fault[] {
  const at = random(replicas.length);
  const replica = replicas[at] as FaultyCluster["replicas"][number];
  const member = etcd.members[at] as FaultyCluster["etcd"]["members"][number];
  const ofServer = { process: `server ${at}` };
  const ofMember = { process: `member ${at}` };
  const killAndCompact = {
    begin: () => replica.kill(),
    async end() {
      await compact();
      await replica.start();
    },
  };
  const pause = { begin: () => replica.pause(), end: () => replica.resume() };
  const pauseMember = { begin: () => member.pause(), end: () => member.resume() };
  return [
    {
      ...ofServer,
      name: "kill a server",
      share: 2,
      maxMs: 500,
      begin: () => replica.kill(),
      end: () => replica.start(),
    },
    { ...ofServer, name: "kill a server, and compact before it starts", share: 2, maxMs: 1_500, ...killAndCompact },
    { ...ofServer, name: "pause a server", share: 1, maxMs: 1_500, ...pause },
    {
      ...ofMember,
      name: "kill a member",
      share: 2,
      maxMs: 1_000,
      begin: () => member.kill(),
      end: () => member.start(),
    },
    { ...ofMember, name: "pause a member", share: 2, maxMs: 2_000, ...pauseMember },
    { name: "compact", share: 2, maxMs: 1, begin: compact, end() {} },
  ];
}

/** Faults of randomly chosen connections. */
function linkFaults({ replicas, setPeers }: FaultyCluster, random: Random): Fault[] {
  const size = replicas.length;
  const at = random(size);
  const other = (at + 1 + random(size - 1)) % size;
  const link = (state: LinkState): void => replicas[at]?.setLink(other, state);
  const peers = (state: LinkState): void => setPeers(at, other, state);
  const rows = [
    ["cut a server from a member", 3, 1_500, link, "cut"],
    ["stall a server's link to a member", 3, 6_000, link, "stalled"],
    ["cut two members", 3, 2_000, peers, "cut"],
    ["stall the link of two members", 2, 2_000, peers, "stalled"],
  ] as const;
  return rows.map(([name, share, maxMs, set, state]) => ({
    name,
    share,
    maxMs,
    begin: () => set(state),
    end: () => set("open"),
  }));
}
