/**
 * Records what a kube-apiserver answers to every shape of path below custom kinds (test/e2e/custom-resources/paths.ts).
 *   node tools/golden/server/custom-resource-paths.ts KUBECONFIG
 * The definitions, the namespace `paths` and the objects are created there, and stay. The server runs without the plugin ServiceAccount.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { askForPaths } from "../../../test/e2e/custom-resources/paths.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: record-custom-paths.ts KUBECONFIG");

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const rows = await askForPaths(async (line, body, headers) => {
  const { status, headers: answered, warnings, text } = await send(line, body, headers);
  return { status, contentType: answered["content-type"] ?? "", warnings, text };
});
const file = new URL("../../../test/e2e/custom-resources/testdata/paths.json.gz", import.meta.url);
writeFileSync(file, gzipSync(`[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`, { level: 9 }));
process.exit(0); // The connection is kept open.
