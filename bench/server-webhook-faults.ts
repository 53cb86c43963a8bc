/**
 * Serves the webhooks of webhook-faults.ts. Argument: the API server, as a Target in JSON, to which
 * one of the webhooks writes.
 */
import type { ServerResponse } from "node:http";
import net, { type AddressInfo } from "node:net";
import { startWebhookServer, type WebhookReply, type WebhookRequest } from "../test/support/webhook-server.ts";
import { serveParent } from "./child.ts";
import { BenchClient } from "./client.ts";

const configMaps = "/api/v1/namespaces/default/configmaps";

type Reply = (request: WebhookRequest) => WebhookReply | Promise<WebhookReply>;

const allow = ({ body: { apiVersion, kind, request } }: WebhookRequest, fields: object = {}): object => ({
  apiVersion,
  kind,
  response: { uid: request.uid, allowed: true, ...fields },
});

const growing: Reply = (request) => {
  const { grown = "" } = request.body.request.object.data ?? {};
  const patch = [{ op: "add", path: "/data", value: { grown: `${grown}x` } }];
  const encoded = Buffer.from(JSON.stringify(patch)).toString("base64");
  return allow(request, { patch: encoded, patchType: "JSONPatch" });
};

const piece = Buffer.alloc(1 << 20, " ");

function sendLarge(response: ServerResponse, left = 100): void {
  for (let pieces = left; pieces > 0; pieces--)
    if (!response.write(piece)) return void response.once("drain", () => sendLarge(response, pieces - 1));
  response.end();
}

/** Replies by path; the client writes to the server. */
function repliesWith(client: BenchClient): ReadonlyMap<string, Reply> {
  return new Map<string, Reply>([
    ["healthy", (request) => allow(request)],
    ["slow", () => () => {}],
    ["redirects", () => (response) => void response.writeHead(307, { location: "/redirects" }).end()],
    ["100-mb", () => (response) => sendLarge(response)],
    ["garbage", () => (response) => void response.socket?.end("garbage\r\n\r\n")],
    ["patches", growing],
    [
      "writes",
      async (request) => {
        const data = { by: "webhook", at: String(performance.now()) };
        const metadata = { name: "writes", labels: { fault: "writes" } };
        const body = JSON.stringify({ apiVersion: "v1", kind: "ConfigMap", metadata, data });
        await client.send({ method: "PUT", path: `${configMaps}/writes`, body }).catch(unlessEnded);
        return allow(request);
      },
    ],
  ]);
}

/** Ignores that the API server ends before this process. @throws any other error */
function unlessEnded(error: NodeJS.ErrnoException): void {
  if (error.code !== "ERR_HTTP2_INVALID_SESSION") throw error;
}

/** Accepts connections, and never answers the TLS handshake. @returns its URL */
async function startSilent(): Promise<string> {
  const server = net.createServer((socket) => void socket.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `https://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

const client = new BenchClient(JSON.parse(process.argv[2] as string));
const replies = repliesWith(client);
const { requests, url, ca } = await startWebhookServer((request) => {
  requests.length = 0;
  return (replies.get(request.path.split(/[/?]/)[1] ?? "") as Reply)(request);
});
const silent = await startSilent();
process.once("SIGTERM", () => process.exit(0));
const urls = {
  ...Object.fromEntries([...replies.keys()].map((fault) => [fault, `${url}/${fault}`])),
  handshake: silent,
};
serveParent({ ca, urls: JSON.stringify(urls) });
