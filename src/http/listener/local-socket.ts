/** HTTP/1.1 on a Unix socket, which only the user of this process can connect to. */
import { chmod, lstat, unlink } from "node:fs/promises";
import { type Clock, realClock } from "../../apimachinery/clock.ts";
import type { Exchange } from "../../request/exchange.ts";
import { serverLimits } from "./http1.ts";
import { Http1Exchange } from "./http1-exchange.ts";
import { defaultLimits } from "./limits.ts";
import type { Peer } from "./peer.ts";

const http = process.getBuiltinModule("node:http");

const { bodyMs, lingerMs, headersMax } = defaultLimits;
const connectionsMax = 16;
const onlyOwner = 0o600;

interface LocalSocketOptions {
  readonly path: string;
  /** Called for each request; must not throw. */
  readonly onExchange: (exchange: Exchange) => void;
  readonly clock: Clock;
}

/**
 * Replaces a socket that an earlier process has left.
 * @returns closes it, with its connections
 * @throws Error when the path is not available, or names something else than a socket
 */
export async function listenLocally({ path, onExchange, clock }: LocalSocketOptions): Promise<() => Promise<void>> {
  await removeSocket(path);
  const server = http.createServer(serverLimits(defaultLimits), (request, response) => {
    const { socket } = request;
    const peer: Peer = {
      address: "",
      port: 0,
      certificate: undefined,
      certificateRejected: false,
      disconnect: () => socket.destroy(),
    };
    const connection = { peer, clock: realClock(clock), bodyMs, lingerMs, work: undefined };
    onExchange(new Http1Exchange(request, response, connection));
  });
  server.maxConnections = connectionsMax;
  server.maxHeadersCount = headersMax;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(path, resolve);
  });
  await chmod(path, onlyOwner);
  return async () => {
    server.closeAllConnections();
    await new Promise<void>((resolve) => server.close(() => resolve()));
  };
}

async function removeSocket(path: string): Promise<void> {
  const found = await lstat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return undefined;
    throw error;
  });
  if (found === undefined) return;
  if (!found.isSocket()) throw new Error(`${path} exists, and is not a socket`);
  await unlink(path);
}
