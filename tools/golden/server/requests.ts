/**
 * Records the answers of a kube-apiserver to the requests in a fixture (test/support/request-golden.ts).
 *   npm run golden requests -- KUBECONFIG FILE
 * Creates the namespace `work` and the objects, and does not delete them. The server has no other clients that write these, and runs without the
 * plugin ServiceAccount.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:https";
import { gunzipSync, gzipSync } from "node:zlib";
import {
  openRequestGolden,
  type RequestGolden,
  type RequestRow,
  type SendRequest,
} from "../../../test/support/request-golden.ts";

const [kubeconfig, file] = process.argv.slice(2);
if (kubeconfig === undefined || file === undefined) throw new Error("usage: requests.ts KUBECONFIG FILE");

function connect(path: string): SendRequest {
  const text = readFileSync(path, "utf8");
  const field = (name: string): Buffer => Buffer.from(new RegExp(`${name}: (\\S+)`).exec(text)?.[1] ?? "", "base64");
  const url = new URL(/server: (\S+)/.exec(text)?.[1] ?? "");
  const [ca, cert, key] = ["certificate-authority-data", "client-certificate-data", "client-key-data"].map(field);
  const agent = new Agent({ keepAlive: true, maxSockets: 1, ca, cert, key } as object);
  return (line, contentType, body) =>
    new Promise((resolve, reject) => {
      const [method, target] = line.split(" ");
      const headers = {
        "content-length": Buffer.byteLength(body),
        ...(contentType !== "" && { "content-type": contentType }),
      };
      const sent = request({ host: url.hostname, port: url.port, method, path: target, headers, agent }, (answer) => {
        const pieces: Buffer[] = [];
        answer.on("data", (piece: Buffer) => pieces.push(piece));
        answer.on("end", () => {
          const warnings = [answer.headers.warning ?? []].flat().join(", ");
          resolve({ status: answer.statusCode ?? 0, warnings, text: Buffer.concat(pieces).toString() });
        });
      });
      sent.on("error", reject);
      sent.end(body);
    });
}

const golden: RequestGolden = JSON.parse(gunzipSync(readFileSync(file)).toString());
const send = connect(kubeconfig);
await send("POST /api/v1/namespaces", "application/json", JSON.stringify({ metadata: { name: "work" } }));
const run = await openRequestGolden(golden, send);
const rows: RequestRow[] = [];
for (const row of golden.rows) rows.push(await run(row));
const lines = (list: readonly unknown[]): string => list.map((one) => JSON.stringify(one)).join(",\n");
writeFileSync(
  file,
  gzipSync(`{"objects":[\n${lines(golden.objects)}\n],\n"rows":[\n${lines(rows)}\n]}\n`, { level: 9 }),
);
