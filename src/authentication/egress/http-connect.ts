/**
 * Tunnels through HTTP proxies: RFC 9110, section 9.3.6.
 * Source: k8s.io/apiserver@v0.36.0/pkg/server/egressselector/egress_selector.go.
 */

import https from "node:https";
import type { Duplex } from "node:stream";
import { quoteGo } from "../../lib/json/quote.ts";
import type { Dial } from "../oidc/document-client.ts";

/** The address of a proxy. */
export type HttpProxy =
  | { readonly url: URL; readonly tls?: Pick<https.RequestOptions, "ca" | "cert" | "key" | "servername"> }
  /** The path of a Unix domain socket. */
  | { readonly socketPath: string };

/** Not imported: see src/webhook/client.ts. */
const http = process.getBuiltinModule("node:http");
const timeoutMs = 30_000;

/** @returns a dialer that opens a connection to the proxy for each tunnel */
export function httpConnect(proxy: HttpProxy): Dial {
  const name = "url" in proxy ? proxy.url.host : proxy.socketPath;
  return (host, port) => {
    let timer: NodeJS.Timeout | undefined;
    const connected = new Promise<Duplex>((resolve, reject) => {
      const target = host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
      const fail = (message: string, cause?: unknown): void => reject(new Error(message, { cause }));
      const request = requestOf(proxy)({
        ...addressOf(proxy),
        method: "CONNECT",
        path: target,
        headers: { host: "127.0.0.1" },
        agent: false,
        setDefaultHeaders: false,
      });
      // The option `timeout` begins again with each byte.
      timer = setTimeout(() => request.destroy(new Error("i/o timeout")), timeoutMs);
      request.once("connect", (response, socket: Duplex, early: Buffer) => {
        const { statusCode, statusMessage } = response;
        if (statusCode !== 200) {
          socket.destroy();
          fail(`proxy error from ${name} while dialing ${target}, code ${statusCode}: ${statusCode} ${statusMessage}`);
        } else if (early.length > 0) {
          socket.destroy();
          fail(`unexpected ${early.length} bytes of buffered data from CONNECT proxy ${quoteGo(name)}`);
        } else resolve(socket);
      });
      request.once("response", (response) => {
        response.destroy();
        fail(
          `proxy error from ${name} while dialing ${target}, code ${response.statusCode}: ${response.statusCode} ${response.statusMessage}`,
        );
      });
      request.on("error", (error) =>
        fail(`reading HTTP response from CONNECT to ${target} via proxy ${name} failed: ${error.message}`, error),
      );
      request.end();
    });
    return connected.finally(() => clearTimeout(timer));
  };
}

function requestOf(proxy: HttpProxy): typeof http.request {
  return "url" in proxy && proxy.url.protocol === "https:" ? https.request : http.request;
}

function addressOf(proxy: HttpProxy): https.RequestOptions {
  if ("socketPath" in proxy) return { socketPath: proxy.socketPath };
  const { hostname, port, protocol } = proxy.url;
  return {
    host: hostname.replace(/^\[|\]$/g, ""),
    port: port === "" ? (protocol === "https:" ? 443 : 80) : Number(port),
    ...proxy.tls,
  };
}
