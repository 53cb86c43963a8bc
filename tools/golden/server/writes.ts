/**
 * Records the answers of a kube-apiserver to the rows of fixtures of writes (test/support/write-golden.ts).
 *   npm run golden writes -- KUBECONFIG ETCD_URL FILE...
 * Creates the namespace of each fixture and the base objects, and does not delete them. The server is empty, has no other clients, and needs the
 * flags of each fixture in index.json. Two recordings differ where an error has causes for several keys of a map, which are in random order,
 * and where a second ends between two answers that are compared.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { gunzipSync, gzipSync } from "node:zlib";
import { openWrites, type Row, type WriteGolden, type WriteServer } from "../../../test/support/write-golden.ts";
import { openServerClient } from "./client.ts";

const [kubeconfig, etcdUrl, ...files] = process.argv.slice(2);
if (kubeconfig === undefined || etcdUrl === undefined) throw new Error("usage: writes.ts KUBECONFIG ETCD_URL FILE...");

function connect(kubeconfigPath: string, etcd: string): WriteServer {
  const send = openServerClient(readFileSync(kubeconfigPath, "utf8"));
  return {
    send: async (line, body) =>
      (await send(line, body === undefined ? undefined : JSON.stringify(body))) as Awaited<
        ReturnType<WriteServer["send"]>
      >,
    async seed(key, object) {
      const base64 = (value: string): string => Buffer.from(value).toString("base64");
      const answer = await fetch(`${etcd}/v3/kv/put`, {
        method: "POST",
        body: JSON.stringify({ key: base64(key), value: base64(JSON.stringify(object)) }),
      });
      if (!answer.ok) throw new Error(await answer.text());
      await new Promise((resolve) => setTimeout(resolve, 300)); // Until the server's cache has it.
    },
  };
}

const server = connect(kubeconfig, etcdUrl);
for (const file of files) {
  const golden: WriteGolden = JSON.parse(gunzipSync(readFileSync(file)).toString());
  const namespace = /\/namespaces\/([^/]+)\//.exec(golden.path)?.[1];
  if (namespace !== undefined) await server.send("POST /api/v1/namespaces", { metadata: { name: namespace } });
  const writes = openWrites(server, golden);
  const rows: Row[] = [];
  for (const row of golden.rows) {
    const { code, answer, warnings } = await writes.run(row);
    const isPlain = Array.isArray(answer) && answer.length === 0;
    rows.push([
      row[0],
      row[1],
      row[2],
      code,
      ...(isPlain && warnings === "" ? [] : [answer]),
      ...(warnings === "" ? [] : [warnings]),
    ] as unknown as Row);
  }
  const lines = (list: readonly unknown[]): string => list.map((one) => JSON.stringify(one)).join(",\n");
  const text = `{"path":${JSON.stringify(golden.path)},\n"bases":[\n${lines(golden.bases)}\n],\n"rows":[\n${lines(rows)}\n]}\n`;
  writeFileSync(file, gzipSync(text, { level: 9 }));
}
