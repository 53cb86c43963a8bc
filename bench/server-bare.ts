/**
 * Baseline (a): a bare node:http2 server over TLS that responds to every request with a constant
 * body of 1.3 KB.
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

const body = Buffer.from(JSON.stringify({ payload: "x".repeat(1300) }));
const server = http2.createSecureServer({ ...tls, ca: target.ca, requestCert: true, rejectUnauthorized: false });
server.on("stream", (stream: http2.ServerHttp2Stream) => {
  stream.on("error", () => stream.destroy());
  stream.resume();
  stream.respond({ ":status": 200, "content-type": "application/json", "content-length": body.length });
  stream.end(body);
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as { port: number };
  serveParent({ ...target, url: `https://127.0.0.1:${port}` });
});
