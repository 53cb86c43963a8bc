/**
 * The states with which further servers of a process begin, in place of creating the certificates and the objects of a
 * start again: the state of the first server with the same options, right after its start. No client has changed it.
 */
import { randomUUID } from "node:crypto";
import { type Clock, systemClock } from "../apimachinery/clock.ts";
import type { ServerOptions } from "../server/options.ts";
import type { ServerSnapshot } from "../server/server.ts";
import type { TestServer } from "./contract.ts";
import { settler } from "./settle.ts";
import { contentsOf } from "./snapshots/snapshot-methods.ts";

/** With what a server begins. */
export interface Beginning {
  /** Undefined: with nothing. */
  readonly snapshot?: ServerSnapshot;
  /** Whether the snapshot is that of another server, which this one is no fork of. */
  readonly isNew?: boolean;
  /** The clock of the server, instead of that of its options. */
  readonly clock?: Clock;
}

/** States of so many sets of options are kept; the one that was used least recently is forgotten when there are more. */
const statesMax = 4;

interface StartState {
  /** Undefined if the start has failed. */
  snapshot: Promise<ServerSnapshot | undefined>;
  /** Whether the controllers have finished what they do after a start, or a server waits for that. */
  isSettled: boolean;
}

const states = new Map<string, StartState>();

/**
 * Options with values of JSON on which the state after a start depends, or which do not affect it. A server with any
 * other option starts in full: files can change, and loggers, audit logs and clocks observe a start.
 */
const plainOptions: ReadonlySet<string> = new Set<keyof ServerOptions>([
  "admission",
  "anonymousAuth",
  "authorizationModes",
  "bootstrapTokenAuth",
  "controllers",
  "emulatedVersion",
  "emulationForwardCompatible",
  "enablePriorityAndFairness",
  "eventTtlSeconds",
  "featureGates",
  "historyMs",
  "maxMutatingRequestsInflight",
  "maxRequestsInflight",
  "minCompatibilityVersion",
  "minRequestTimeoutMs",
  "proxiedAddresses",
  "requestTimeoutMs",
  "resourceQuotaSyncMs",
  "runtimeConfig",
  "runtimeConfigEmulationForwardCompatible",
  "serviceClusterIpRange",
  "serviceNodePortRange",
]);

/** @returns a text that is equal for options with equal states after a start; undefined for others */
export function startKey(options: Partial<ServerOptions>): string | undefined {
  const names = Object.keys(options).sort();
  if (names.some((name) => !plainOptions.has(name)) || options.admission?.configFile !== undefined) return undefined;
  return JSON.stringify(names.map((name) => [name, options[name as keyof ServerOptions]]));
}

/**
 * Opens a server with the state of the key, or the first one, whose state is kept. Concurrent callers wait for the first.
 *
 * @param open opens a server with the options of the key
 * @throws Error as `open`
 */
export async function openFrom(key: string, open: (from: Beginning) => Promise<TestServer>): Promise<TestServer> {
  const known = states.get(key);
  const snapshot = await known?.snapshot;
  if (known === undefined || snapshot === undefined) return openFirst(key, open);
  remember(key, known);
  const from = { snapshot: { ...snapshot, keys: { ...snapshot.keys, lineage: randomUUID() } }, isNew: true };
  if (known.isSettled) return open(from);
  known.isSettled = true;
  const work = settler();
  const server = await open({ ...from, clock: { ...systemClock, beginWork: work.beginWork } });
  await work.settle();
  known.snapshot = Promise.resolve(await stateOf(server));
  return server;
}

async function openFirst(key: string, open: (from: Beginning) => Promise<TestServer>): Promise<TestServer> {
  const { promise, resolve } = Promise.withResolvers<ServerSnapshot | undefined>();
  remember(key, { snapshot: promise, isSettled: false });
  try {
    const server = await open({});
    resolve(await stateOf(server));
    return server;
  } catch (error) {
    resolve(undefined);
    throw error;
  }
}

/** Must be called before a client gets the server. */
async function stateOf(server: TestServer): Promise<ServerSnapshot> {
  return contentsOf(await server.snapshot());
}

function remember(key: string, state: StartState): void {
  states.delete(key);
  states.set(key, state);
  if (states.size > statesMax) states.delete(states.keys().next().value as string);
}
