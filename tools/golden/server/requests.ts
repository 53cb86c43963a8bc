/**
 * Records the answers of a kube-apiserver to the requests in a fixture (test/support/request-golden.ts).
 *   npm run golden requests -- KUBECONFIG FILE
 * Creates the namespace `work` and the objects, and does not delete them. The server has no other clients that write these, and runs without the
 * plugin ServiceAccount.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import {
  openRequestGolden,
  type RequestGolden,
  type RequestRow,
  type SendRequest,
} from "../../../test/support/request-golden.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig, file] = process.argv.slice(2);
if (kubeconfig === undefined || file === undefined) throw new Error("usage: requests.ts KUBECONFIG FILE");

function connect(path: string): SendRequest {
  const send = openServerClient(readFileSync(path, "utf8"));
  return (line, contentType, body) => send(line, body, { "content-type": contentType });
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
