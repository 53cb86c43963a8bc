/** What the rows of `npm run bench -- --scale` have in common. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Child, startChild } from "../child.ts";
import { BenchClient, type Target } from "../client.ts";

/** Prints a figure. @param goal the most it may be */
export type Show = (what: string, measured: string, goal?: string) => void;

export interface ScaleOptions {
  /** The number of objects of rows that do not set it. */
  readonly objects: number;
}

export interface ScaleRow {
  readonly name: string;
  readonly what: string;
  readonly goal: string;
  run(show: Show, options: ScaleOptions): Promise<void>;
}

/** A server on LMDB in a process of its own, whose data are removed at the end. */
export interface ScaleServer {
  readonly child: Child;
  readonly client: BenchClient;
  /** Opens a further connection. */
  connect(): BenchClient;
  /** Stops the process and starts another one with the same data. */
  restart(): Promise<void>;
  /** @returns the CPU time of the server during the work, in milliseconds */
  cpuMsOf(work: () => Promise<unknown>): Promise<number>;
}

/** Runs work with a new server. */
export async function withServer(work: (server: ScaleServer) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-scale-"));
  const start = (): Promise<Child> =>
    startChild(new URL("../server-coxswain.ts", import.meta.url), [join(directory, "data")]);
  let child = await start();
  const clients: BenchClient[] = [];
  const connect = (): BenchClient => {
    const client = new BenchClient(child.ready as unknown as Target);
    clients.push(client);
    return client;
  };
  const disconnect = (): void => {
    for (const client of clients.splice(0)) client.close();
  };
  let client = connect();
  try {
    await work({
      get child() {
        return child;
      },
      get client() {
        return client;
      },
      connect,
      async restart() {
        disconnect();
        await child.stop();
        child = await start();
        client = connect();
      },
      async cpuMsOf(measured) {
        const before = await child.usage();
        await measured();
        return (await child.usage()).cpuMs - before.cpuMs;
      },
    });
  } finally {
    disconnect();
    await child.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Waits until the number of objects of a list is as expected. */
export async function untilCount(
  client: BenchClient,
  path: string,
  isExpected: (count: number) => boolean,
): Promise<void> {
  while (!isExpected(await countOf(client, path))) await new Promise((resolve) => setTimeout(resolve, 100));
}

/** The number of objects of a list. */
export async function countOf(client: BenchClient, path: string): Promise<number> {
  const { body } = await client.send({ method: "GET", path: `${path}?limit=1` });
  const { metadata, items } = JSON.parse(body);
  return items.length + (metadata.remainingItemCount ?? 0);
}
