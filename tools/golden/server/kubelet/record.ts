/**
 * Records kube-apiserver's answers to requests for the logs and streams of pods. Starts the kubelet of the tests,
 * writes its authority and its client certificate to DIRECTORY, and waits for the kubeconfig
 * of a kube-apiserver with these flags:
 * `--kubelet-certificate-authority=DIRECTORY/node-ca.crt --kubelet-client-certificate=DIRECTORY/node-client.crt
 * --kubelet-client-key=DIRECTORY/node-client.key --disable-admission-plugins=ServiceAccount`.
 * HOST is an address of this machine other than loopback. Usage: `KUBECONFIG DIRECTORY HOST`.
 */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { startFakeKubelet } from "../../../../test/support/fake-kubelet.ts";
import { createObjects, kubeletRows, sendRow } from "../../../../test/support/kubelet-table.ts";
import { root } from "../../fixtures.ts";
import { openServerClient, readKubeconfig } from "../client.ts";

const [kubeconfigFile = "", directory = "", host = ""] = process.argv.slice(2);
const kubelet = await startFakeKubelet({ host });
writeFileSync(join(directory, "node-ca.crt"), kubelet.ca);
writeFileSync(join(directory, "node-client.crt"), kubelet.client.cert);
writeFileSync(join(directory, "node-client.key"), kubelet.client.key);

const kubeconfig = await readyKubeconfig();
const { url, tls } = readKubeconfig(kubeconfig);
const { hostname, port } = new URL(url);
const target = { host: hostname, port: Number(port), ...tls };
const address = { host, port: kubelet.port };
const client = openServerClient(kubeconfig);
await createObjects(
  (line, body, contentType) => client(line, JSON.stringify(body), { "content-type": contentType }),
  address,
);
const rows = [];
for (const row of kubeletRows) rows.push({ ...row, answer: await sendRow(row, target, address) });
writeFileSync(
  join(root, "src/forwarding/kubelet/testdata/requests.jsonl"),
  rows.map((row) => `${JSON.stringify(row)}\n`).join(""),
);
await kubelet.close();
process.exit();

/** Waits for the file. */
async function readyKubeconfig(): Promise<string> {
  while (!existsSync(kubeconfigFile)) await setTimeout(500);
  return readFileSync(kubeconfigFile, "utf8");
}
