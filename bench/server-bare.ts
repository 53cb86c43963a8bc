/**
 * Baseline (a): a bare node:http2 server over TLS that responds to every request with a constant
 * body of 1.3 KB, or with what was put there: what other servers answer, from memory.
 */
import http2 from "node:http2";
import { startServer } from "../src/index.ts";
import { serveParent } from "./child.ts";
import { targetOfKubeconfig } from "./client.ts";

// Uses the certificates of this server, so that the handshakes are the same.
const donor = await startServer({ storage: "memory" });
const target = targetOfKubeconfig(donor.kubeconfig);
const tls = donor.servingCertificate;
await donor.close();

interface Answer {
  readonly body: Buffer;
  readonly encoding: string | undefined;
}

const constant: Answer = { body: Buffer.from(JSON.stringify({ payload: "x".repeat(1300) })), encoding: undefined };
/** By path. */
const answers = new Map<string, Answer>();

const server = http2.createSecureServer({ ...tls, ca: target.ca, requestCert: true, rejectUnauthorized: false });
server.on("stream", (stream: http2.ServerHttp2Stream, headers: http2.IncomingHttpHeaders) => {
  stream.on("error", () => stream.destroy());
  const path = headers[":path"] as string;
  if (headers[":method"] === "PUT") return void keep(stream, path, headers["content-encoding"]);
  stream.resume();
  send(stream, answers.get(path) ?? constant);
});

async function keep(stream: http2.ServerHttp2Stream, path: string, encoding: string | undefined): Promise<void> {
  answers.set(path, { body: Buffer.concat(await stream.toArray()), encoding });
  send(stream, constant);
}

function send(stream: http2.ServerHttp2Stream, { body, encoding }: Answer): void {
  stream.respond({
    ":status": 200,
    "content-type": "application/json",
    "content-length": body.length,
    ...(encoding !== undefined && { "content-encoding": encoding }),
  });
  stream.end(body);
}

server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  serveParent({ ...target, url: `https://127.0.0.1:${port}` });
});
