/** Servers behind a proxy, which answer by path. Used by tests and by the program that records their fixture. */
import { once } from "node:events";
import net, { type AddressInfo, type Server, type Socket } from "node:net";
import tls from "node:tls";
import { createCertificates } from "../../src/server/serving/certificates.ts";

/** Running backends at one address. */
export interface ProxyBackend {
  readonly host: string;
  /** Ports by what listens there; nothing listens at `closed`. */
  readonly ports: Readonly<Record<"http" | "https" | "closed", number>>;
  close(): void;
}

export async function startProxyBackend(host: string): Promise<ProxyBackend> {
  const { serving } = await createCertificates({ now: Date.now(), names: ["backend"] });
  const sockets = new Set<Socket>();
  const serve =
    (name: string) =>
    (socket: Socket): void => {
      sockets.add(socket);
      socket.once("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
      readRequest(socket, name);
    };
  const http = net.createServer(serve("http"));
  const https = tls.createServer({ cert: serving.cert, key: serving.key }, serve("https"));
  const closed = net.createServer();
  const [httpPort, httpsPort, closedPort] = await Promise.all([http, https, closed].map((one) => listen(one, host)));
  closed.close();
  return {
    host,
    ports: { http: httpPort as number, https: httpsPort as number, closed: closedPort as number },
    close() {
      for (const socket of sockets) socket.destroy();
      http.close();
      https.close();
    },
  };
}

async function listen(server: Server, host: string): Promise<number> {
  server.listen(0, host);
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

/** Waits for the headers and the body of a request. */
function readRequest(socket: Socket, name: string): void {
  let text = "";
  const take = (piece: Buffer): void => {
    text += piece.toString("latin1");
    const end = text.indexOf("\r\n\r\n");
    if (end < 0) return;
    const head = text.slice(0, end);
    const body = text.slice(end + 4);
    const length = Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? "0");
    if (/^transfer-encoding: chunked$/im.test(head) ? !body.endsWith("0\r\n\r\n") : body.length < length) return;
    socket.off("data", take);
    answer(socket, name, head, body);
  };
  socket.on("data", take);
}

const plain = "Content-Type: text/plain\r\n";
const empty = "Content-Length: 0\r\n\r\n";

/** Responses by the first segment of the path; others describe the request. */
const responses: Readonly<Record<string, (query: string) => string>> = {
  location: (query) => `HTTP/1.1 302 Found\r\nLocation: ${decodeURIComponent(query)}\r\n${empty}`,
  headers: () =>
    `HTTP/1.1 200 OK\r\n${plain}Cache-Control: max-age=5\r\nAudit-Id: backend\r\nSet-Cookie: a=1\r\nSet-Cookie: b=2\r\nX-A: 1\r\nX-Listed: 1\r\nAccess-Control-Allow-Origin: *\r\nAccess-Control-Allow-Headers: x\r\nKeep-Alive: x\r\nContent-Length: 2\r\nConnection: X-Listed\r\n\r\nhi`,
  garbage: () => "SSH-2.0-backend\r\n",
  "no-answer": () => "",
  upgraded: () => "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n",
  "no-content": () => "HTTP/1.1 204 No Content\r\n\r\n",
  unchanged: () => 'HTTP/1.1 304 Not Modified\r\nEtag: "x"\r\n\r\n',
  failed: () => `HTTP/1.1 500 Internal Server Error\r\n${plain}X-A: 1\r\nContent-Length: 2\r\n\r\nno`,
  chunked: () => `HTTP/1.1 200 OK\r\n${plain}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`,
  html: (query) =>
    `HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\n\r\n<!DOCTYPE html><html><head><link href="/x?a&amp;b"></head><img src=/y/><a href="relative">&amp;</a><script src="/s.js">"<a href='/y'>"</script><a href="http://${query}/absolute">x</a><a href="http://other/">x</a><!-- <a href="/c"> --></html>`,
};

function answer(socket: Socket, name: string, head: string, body: string): void {
  const [method = "", target = ""] = head.split(" ");
  const [path = "", query = ""] = target.split("?");
  const response = responses[path.split("/")[1] ?? ""]?.(query);
  if (response !== undefined)
    return void socket.end(method === "HEAD" ? response.replace(/\r\n\r\n.*/s, "\r\n\r\n") : response);
  const described = JSON.stringify({
    name,
    ...describe(head),
    body: body.replace(/^[0-9a-f]+\r\n(.*)\r\n0\r\n\r\n$/s, "$1"),
  });
  const start = path.startsWith("/switch")
    ? "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-A: 1\r\n\r\n"
    : `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${described.length}\r\n\r\n`;
  socket.end(method === "HEAD" ? start : start + described, "latin1");
}

/** Without headers that this server and upstream send differently: `Connection`, and `Accept-Encoding: gzip`. */
function describe(head: string): { readonly line: string; readonly headers: readonly string[] } {
  const [line = "", ...lines] = head.split("\r\n");
  const headers = lines.map((one) => one.replace(/^[^:]*/, (name) => name.toLowerCase()));
  return { line, headers: headers.filter((one) => !/^connection: close$|^accept-encoding: gzip$/.test(one)).sort() };
}
