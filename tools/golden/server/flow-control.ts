/**
 * Records the flow control objects that kube-apiserver creates at its start (test/support/flow-control-objects.ts).
 *   npm run golden flow-control -- KUBECONFIG
 * The kube-apiserver is empty.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { flowControlObjects } from "../../../test/support/flow-control-objects.ts";
import { root } from "../fixtures.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig] = process.argv.slice(2);
if (kubeconfig === undefined) throw new Error("usage: flow-control.ts KUBECONFIG");

const send = openServerClient(readFileSync(kubeconfig, "utf8"));
const lines = await flowControlObjects(async (path) => (await send(`GET ${path}`)).body);
writeFileSync(join(root, "src/controllers/flow-control/objects/testdata/objects.jsonl"), `${lines.join("\n")}\n`);
process.exit();
