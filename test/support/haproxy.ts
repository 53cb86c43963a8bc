/** Runs HAProxy as a load balancer of TCP connections. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import net from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { freePort } from "./aggregated-server.ts";
import { skipWithout } from "./needs.ts";
import { eventually } from "./until.ts";

/** Why tests that need HAProxy are skipped; false when they are not. */
export const skipWithoutHaproxy: string | false = skipWithout("haproxy");

/** How often a server is probed, and after how many failures and successes it is down and up. */
export const probes = { intervalMs: 500, fall: 2, rise: 2 };

/** The configuration in docs/replicas.md, with a socket for its state. */
function configuration(port: number, socket: string, backends: readonly number[]): string {
  const { intervalMs, fall, rise } = probes;
  return `
global
    stats socket ${socket} level user
defaults
    mode tcp
    timeout connect 1s
    timeout client 1h
    timeout server 1h
    retries 3
    option redispatch 1
frontend kubernetes
    bind 127.0.0.1:${port}
    default_backend servers
backend servers
    balance roundrobin
    option httpchk
    http-check send meth GET uri /readyz ver HTTP/1.1 hdr Host localhost
    http-check expect status 200
    default-server check check-ssl verify none inter ${intervalMs}ms fall ${fall} rise ${rise}
${backends.map((backend, at) => `    server s${at} 127.0.0.1:${backend}\n`).join("")}`;
}

/** What the load balancer knows about a server. */
export interface BackendState {
  readonly isUp: boolean;
  /** Open connections. */
  readonly connections: number;
}

export interface Haproxy {
  readonly port: number;
  /** In the order of the backends. */
  state(): Promise<readonly BackendState[]>;
  close(): Promise<void>;
}

/** @param backends the ports of the servers */
export async function startHaproxy(directory: string, backends: readonly number[]): Promise<Haproxy> {
  const port = await freePort();
  const file = join(directory, "haproxy.cfg");
  const socket = join(directory, "haproxy.sock");
  writeFileSync(file, configuration(port, socket, backends));
  const child = spawn("haproxy", ["-db", "-f", file], { stdio: ["ignore", "ignore", "pipe"] });
  let output = "";
  child.stderr.on("data", (piece) => {
    output = (output + piece).slice(-10_000);
  });
  await accepting(child, port, () => output);
  return {
    port,
    state: () => readState(socket),
    async close() {
      const exited = once(child, "exit");
      child.kill("SIGKILL");
      await exited;
    },
  };
}

/** Source: HAProxy's management guide, "Statistics and monitoring", CSV format. */
async function readState(path: string): Promise<readonly BackendState[]> {
  const csv = await text(net.connect(path).end("show stat servers 4 -1\n"));
  const [head = "", ...rows] = csv.trim().split("\n");
  const names = head.replace("# ", "").split(",");
  const [status, connections] = [names.indexOf("status"), names.indexOf("scur")];
  return rows.map((row) => {
    const fields = row.split(",");
    return { isUp: fields[status]?.startsWith("UP") === true, connections: Number(fields[connections]) };
  });
}

async function accepting(child: ChildProcess, port: number, output: () => string): Promise<void> {
  await eventually("haproxy accepts connections", async () => {
    if (child.exitCode !== null) return true;
    const socket = net.connect(port, "127.0.0.1");
    await once(socket, "connect").finally(() => socket.destroy());
    return true;
  });
  if (child.exitCode !== null) throw new Error(`haproxy ended: ${output()}`);
}
