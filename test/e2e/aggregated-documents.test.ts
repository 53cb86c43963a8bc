/** The documents of a server with other servers behind it, some of which fail or hang. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import { aggregationReads } from "../support/aggregation-reads.ts";
import { kubectls, runKubectl } from "../support/kubectl.ts";
import { localExtensionObjects, serveExtensions } from "../support/serve-extensions.ts";
import { startServerWithClient } from "../support/server-with-client.ts";
import { eventually } from "../support/until.ts";

const { server, client } = await startServerWithClient();
const extensions = await serveExtensions("localhost");
after(() => extensions.close());
for (const [path, body] of localExtensionObjects(extensions.ports)) {
  const { status } = await client.send({ method: "POST", path, body });
  assert.equal(status, 201, path);
}

interface Row {
  readonly path: string;
  readonly accept: string;
  readonly status: number;
  readonly picked: unknown;
}

const rows: Row[] = readFileSync(
  join(import.meta.dirname, "../../src/http/endpoints/testdata/aggregation-documents.jsonl"),
  "utf8",
)
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

for (const [index, { path, accept, status, picked }] of rows.entries()) {
  test(`GET ${path} as ${accept} becomes what kube-apiserver answers`, async () => {
    const read = aggregationReads[index] as (typeof aggregationReads)[number];
    const ask = async (): Promise<unknown> => {
      const answer = await client.send({ path, headers: { accept } });
      if (answer.status !== status) return answer.status;
      return JSON.parse(JSON.stringify(read.pick(JSON.parse(answer.text))));
    };
    // Documents change until each server was asked, and the one that hangs takes five seconds.
    await eventually("the answer is that of kube-apiserver", async () => assert.deepEqual(await ask(), picked));
  });
}

test("forwards requests for an OpenAPI document to its server", async () => {
  const { status, body, headers } = await client.send({ path: "/openapi/v3/apis/fast.example.com/v1?hash=ABCDEF" });
  assert.equal(status, 200);
  assert.equal(body.info.title, "fast");
  assert.equal(headers.etag, '"ABCDEF"');
});

for (const kubectl of kubectls()) {
  test(`${kubectl} lists resources while servers fail or hang`, async () => {
    const options = { directory: server.directory, kubeconfigPath: server.kubeconfigPath };
    const { output } = await runKubectl(kubectl, ["api-resources", "--no-headers"], options);
    assert.match(output, /^pods /m);
    assert.match(output, /^gadgets +ga +legacy.example.com\/v1 +true +Gadget$/m);
    const versions = await runKubectl(kubectl, ["api-versions"], options);
    assert.equal(versions.code, 0);
    assert.match(versions.output, /^fast.example.com\/v1$/m);
    const explained = await runKubectl(kubectl, ["explain", "pods.spec.nodeName"], options);
    assert.equal(explained.code, 0, explained.output);
  });
}
