/** YAML on the wire: long chunked lists, and warnings with non-ASCII letters. */
import assert from "node:assert/strict";
import http2 from "node:http2";
import { before, describe, test } from "node:test";
import { decodeYaml } from "../../src/lib/yaml/decode.ts";
import { credentialsOf } from "../support/kubeconfig-fields.ts";
import { startServerWithClient } from "../support/server-with-client.ts";

const maps = "/api/v1/namespaces/default/configmaps";
const yaml = { accept: "application/yaml", "content-type": "application/yaml" };

const { server, client } = await startServerWithClient();

describe("YAML on the wire", () => {
  before(async () => {
    const text = "of some length, with a 'quote', a # and more than eighty characters so that lines are folded\n";
    for (let at = 0; at < 300; at++) {
      const body = `metadata: {name: "m${at}"}\ndata:\n  k: "${at}"\n  text: |\n    ${text.repeat(8).trimEnd().replaceAll("\n", "\n    ")}\n`;
      const { status, text: answer } = await client.send({ method: "POST", path: maps, headers: yaml, body });
      assert.equal(status, 201, answer);
      assert.match(answer, /^apiVersion: v1\ndata:\n {2}k: "\d+"\n {2}text: \|\n/);
    }
  });

  test("a chunked list equals the list in JSON", async () => {
    const request = { path: maps, headers: { accept: "application/yaml" } };
    const { headers, text } = await client.send(request);
    assert.equal(headers["content-type"], "application/yaml");
    assert.equal(headers["transfer-encoding"], "chunked");
    const json = await client.send({ path: maps });
    assert.deepEqual(decodeYaml(Buffer.from(text)).value, json.body);
    const limited = await client.send({ ...request, path: `${maps}?limit=2` });
    assert.match(
      limited.text,
      /\nmetadata:\n {2}continue: \S+\n {2}remainingItemCount: 298\n {2}resourceVersion: "\d+"\n$/,
    );
  });

  const expectedWarning = '299 - "unknown field \\"größe\\""';

  test("encodes warnings in UTF-8 over HTTP/1.1", async () => {
    const path = `${maps}?dryRun=All`;
    const { status, headers } = await client.send({
      method: "POST",
      path,
      headers: yaml,
      body: "metadata: {name: w}\ngröße: 1\n",
    });
    assert.equal(status, 201);
    assert.equal(Buffer.from(String(headers.warning), "latin1").toString(), expectedWarning);
  });

  test("encodes warnings in UTF-8 over HTTP/2", async () => {
    const session = http2.connect(/server: (\S+)/.exec(server.kubeconfig)?.[1] as string, {
      ...credentialsOf(server.kubeconfig),
    });
    const stream = session.request({ ":method": "POST", ":path": `${maps}?dryRun=All`, ...yaml });
    stream.end("metadata: {name: w}\ngröße: 1\n");
    const headers = await new Promise<http2.IncomingHttpHeaders>((resolve, reject) => {
      stream.on("response", resolve);
      stream.on("error", reject);
    });
    stream.resume();
    session.close();
    assert.equal(Buffer.from(String(headers.warning), "latin1").toString(), expectedWarning);
  });
});
