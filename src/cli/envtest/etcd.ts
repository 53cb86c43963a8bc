/** Replaces etcd for callers that only check its health, such as envtest. */
import { createServer, type Server } from "node:http";

/**
 * Answers health checks until SIGTERM or SIGINT.
 *
 * @param urls the URLs to listen on
 * @throws Error when it cannot listen
 */
export async function answerHealth(urls: readonly string[]): Promise<void> {
  const servers = await Promise.all(urls.map(open));
  await new Promise<void>((resolve) => {
    process.once("SIGTERM", resolve);
    process.once("SIGINT", resolve);
  });
  for (const server of servers) {
    server.close();
    server.closeAllConnections();
  }
}

function open(url: string): Promise<Server> {
  const { hostname, port } = new URL(url);
  const server = createServer(({ url: path }, response) => {
    const isHealth = path === "/health";
    response.writeHead(isHealth ? 200 : 404, { "content-type": "application/json" });
    response.end(isHealth ? '{"health":"true","reason":""}' : '{"error":"there is no etcd here"}');
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(Number(port), hostname.replace(/^\[(.*)\]$/, "$1"), () => resolve(server));
  });
}
