/**
 * Records the answers of a kube-apiserver to every shape of path below custom resources (test/e2e/custom-resources/paths.ts).
 *   npm run golden custom-resource-paths -- KUBECONFIG
 * Creates the definitions, the namespace `paths` and the objects, and does not delete them. The server runs without the plugin ServiceAccount.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { sendPathRequests } from "../../../test/e2e/custom-resources/paths.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: custom-resource-paths.ts KUBECONFIG");

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const rows = await sendPathRequests(async (line, body, headers) => {
  const { status, headers: answered, warnings, text } = await send(line, body, headers);
  return { status, contentType: answered["content-type"] ?? "", warnings, text };
});
const file = new URL("../../../test/e2e/custom-resources/testdata/paths.json.gz", import.meta.url);
writeFileSync(file, gzipSync(`[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`, { level: 9 }));
process.exit(0); // The connection is kept open.
