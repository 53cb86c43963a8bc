/**
 * Records the answers of a kube-apiserver while a webhook converts objects, correctly and incorrectly (test/e2e/conversion/answers.ts).
 *   npm run golden conversions -- KUBECONFIG
 * Creates the definition, the namespaces and the objects, and does not delete them. The server runs without the plugin ServiceAccount and can
 * reach loopback.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { type Reply, sendWhileConverting } from "../../../test/e2e/conversion/answers.ts";
import { good } from "../../../test/e2e/conversion/targets.ts";
import { startWebhookServer } from "../../../test/support/webhook-server.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: conversions.ts KUBECONFIG");

let reply: Reply = good;
const { url, ca } = await startWebhookServer((request) => reply(request));
const answer = (next: Reply): void => {
  reply = next;
};
const rows = await sendWhileConverting(openServerClient(readFileSync(kubeconfig, "utf8")), { url, ca, answer });
const file = new URL("../../../test/e2e/conversion/testdata/answers.json.gz", import.meta.url);
writeFileSync(file, gzipSync(`[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`, { level: 9 }));
process.exit(0); // The webhook and a connection are open.
