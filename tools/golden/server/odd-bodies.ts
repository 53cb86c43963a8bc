/**
 * Records the answers of a kube-apiserver to writes with odd values (test/e2e/custom-resources/odd-bodies.ts).
 *   npm run golden odd-bodies -- KUBECONFIG
 * Creates the definition, the namespace `odd` and the objects, and does not delete them.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { sendOddBodies } from "../../../test/e2e/custom-resources/odd-bodies.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: odd-bodies.ts KUBECONFIG");

const rows = await sendOddBodies(openServerClient(readFileSync(kubeconfig, "utf8")));
const file = new URL("../../../test/e2e/custom-resources/testdata/odd-bodies.json.gz", import.meta.url);
writeFileSync(file, gzipSync(`[\n${rows.map((row) => JSON.stringify(row)).join(",\n")}\n]\n`, { level: 9 }));
process.exit(0); // The connection is kept open.
