/** Clients that read whatever they get, and some of which leave before its end. */
import assert from "node:assert/strict";
import http2 from "node:http2";
import https from "node:https";
import type { seededRandom } from "./seeded-random.ts";

interface RequestOptions {
  /** Whether the client leaves after a random number of turns. */
  readonly leaves?: boolean;
}

/** Each sends a GET, and returns the status; 0 for a broken connection. */
export interface LeavingClients {
  overHttp1(path: string, options?: RequestOptions): Promise<number>;
  overHttp2(path: string, options?: RequestOptions): Promise<number>;
  /** Requests a WebSocket or SPDY with one of the subprotocols, sends random bytes, and leaves. */
  upgrade(path: string, protocols: readonly string[]): Promise<number>;
  /** Ends a turn of all clients. */
  turn(): void;
  close(): void;
}

/** The most turns before a client leaves. */
const turnsMax = 200;

type Random = ReturnType<typeof seededRandom>;

/** What the requests share. */
interface Parts {
  readonly port: number;
  /** PEM of the authority of the server's certificate. */
  readonly ca: string;
  readonly random: Random;
  /** @returns a function that ends the wait */
  leaveLater(leave: () => void): () => void;
}

export function leavingClients({ port, ca }: Pick<Parts, "port" | "ca">, random: Random): LeavingClients {
  const session = http2.connect(`https://127.0.0.1:${port}`, { ca });
  session.on("error", () => {}); // The streams report it.
  const agent = new https.Agent({ keepAlive: true });
  const leaving = new Set<{ turns: number; leave(): void }>();
  const leaveLater = (leave: () => void): (() => void) => {
    const client = { turns: random(turnsMax), leave };
    leaving.add(client);
    return () => void leaving.delete(client);
  };
  const parts = { port, ca, random, leaveLater };
  return {
    overHttp1: (path, options) => sendOverHttp1({ ...parts, agent }, path, options),
    async overHttp2(path, options) {
      const status = await sendOverHttp2({ ...parts, session }, path, options);
      assert.ok(status <= 599, `HTTP/2 does not carry the status ${status}`);
      return status;
    },
    upgrade: (path, protocols) => requestUpgrade(parts, path, protocols),
    turn() {
      for (const client of leaving) if (client.turns-- === 0) client.leave();
    },
    close() {
      session.destroy();
      agent.destroy();
    },
  };
}

function sendOverHttp1(
  { port, ca, agent, leaveLater }: Parts & { readonly agent: https.Agent },
  path: string,
  { leaves = false }: RequestOptions = {},
): Promise<number> {
  return new Promise((resolve) => {
    const request = https.request({ host: "127.0.0.1", port, ca, agent, path });
    const stay = leaves ? leaveLater(() => request.destroy()) : undefined;
    const finish = (status: number): void => {
      stay?.();
      resolve(status);
    };
    let isAnswered = false;
    request.on("response", (response) => {
      isAnswered = true;
      response.on("error", () => {}); // A close follows.
      response.on("close", () => finish(response.complete ? (response.statusCode as number) : 0)).resume();
    });
    request.on("error", () => {}); // A close follows.
    request.on("close", () => void (isAnswered || finish(0))).end();
  });
}

function sendOverHttp2(
  { session, leaveLater }: Parts & { readonly session: http2.ClientHttp2Session },
  path: string,
  { leaves = false }: RequestOptions = {},
): Promise<number> {
  return new Promise((resolve) => {
    const stream = session.request({ ":path": path });
    const stay = leaves ? leaveLater(() => stream.close(http2.constants.NGHTTP2_CANCEL)) : undefined;
    let status = 0;
    stream.on("response", (headers) => {
      status = Number(headers[":status"]);
    });
    stream.on("error", () => {}); // A close follows.
    stream.on("close", () => {
      stay?.();
      resolve(status);
    });
    stream.resume();
    stream.end();
  });
}

function requestUpgrade(
  { port, ca, random, leaveLater }: Parts,
  path: string,
  protocols: readonly string[],
): Promise<number> {
  return new Promise((resolve) => {
    const headers = {
      connection: "Upgrade",
      upgrade: random(4) > 0 ? "websocket" : "SPDY/3.1",
      "sec-websocket-version": "13",
      "sec-websocket-key": "AAAAAAAAAAAAAAAAAAAAAA==",
      "sec-websocket-protocol": protocols[random(protocols.length)],
    };
    const request = https.request({ host: "127.0.0.1", port, ca, agent: false, path, headers });
    let leave = (): void => void request.destroy();
    const stay = leaveLater(() => leave());
    const finish = (status: number): void => {
      stay();
      resolve(status);
    };
    let isAnswered = false;
    request.on("upgrade", (_response, socket) => {
      isAnswered = true;
      socket.on("error", () => {}); // A close follows.
      socket.on("close", () => finish(101)).resume();
      leave = () => void socket.destroy();
      if (random(2) === 0) socket.write(Buffer.from(Array.from({ length: random(60) }, () => random(256))));
    });
    request.on("response", (response) => {
      isAnswered = true;
      response.on("error", () => {}); // A close follows.
      response.on("close", () => finish(response.statusCode as number)).resume();
    });
    request.on("error", () => {}); // A close follows.
    request.on("close", () => void (isAnswered || finish(0))).end();
  });
}
