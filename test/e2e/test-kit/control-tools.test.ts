/** Certificates, webhooks and installations over HTTP, as the kits for other languages use them. */
import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import http from "node:http";
import https from "node:https";
import type { AddressInfo } from "node:net";
import { after, before, describe, test } from "node:test";
import { customResourceDefinition, startTestServer, type TestServer } from "../../../src/testing/index.ts";
import { quietControllers } from "../../support/start-test-server.ts";

const maps = "/api/v1/namespaces/default/configmaps";
let server: TestServer;
before(async () => {
  server = await startTestServer({ controllers: quietControllers, control: true });
});
after(() => server.close());

const send = async (method: string, path: string, body?: object | string) => {
  const response = await server.fetch(path, { method, ...(body !== undefined && { body }) });
  return { status: response.status, body: await response.json() };
};

/** Answers reviews as programs in other languages do, and counts them. */
const denying: http.RequestListener = (request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const review = JSON.parse(Buffer.concat(pieces).toString());
    const status = { message: `no, at ${request.url}` };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ ...review, response: { uid: review.request.uid, allowed: false, status } }));
  });
};

async function listen(listener: http.Server | https.Server): Promise<number> {
  await new Promise<void>((resolve) => void listener.listen(0, "127.0.0.1", resolve));
  return (listener.address() as AddressInfo).port;
}

const webhook = (url: string, more: object = {}) => ({
  url,
  validating: { name: "of.another.process", rules: [{ resources: ["configmaps"] }], ...more },
});

describe("POST /testing/certificates", () => {
  test("issues a serving certificate of the authority for webhooks", async () => {
    const { status, body } = await send("POST", "/testing/certificates", { hosts: ["127.0.0.1", "hooks.example.com"] });
    assert.equal(status, 201);
    const [certificate, ca] = [new X509Certificate(body.certificate), new X509Certificate(body.ca)];
    assert.ok(certificate.verify(ca.publicKey));
    assert.ok(certificate.checkIP("127.0.0.1") && certificate.checkHost("hooks.example.com"));
    assert.ok(body.key.startsWith("-----BEGIN "));
    assert.ok(!server.kubeconfig.includes(Buffer.from(body.ca).toString("base64")), "it is not that of the server");
  });

  const wrong: [body: object, message: RegExp][] = [
    [{}, /^the body must be an object with the field hosts/],
    [{ hosts: [] }, /^hosts: there must be between 1 and 100$/],
    [{ hosts: ["a b"] }, /^hosts\[0\]: must be a DNS name or an address/],
    [{ hosts: ["a", 1] }, /^hosts\[1\]/],
    [{ hosts: ["a"], days: 1 }, /^the body must be/],
  ];
  for (const [sent, message] of wrong) {
    test(`rejects ${JSON.stringify(sent)}`, async () => {
      const { status, body } = await send("POST", "/testing/certificates", sent);
      assert.equal(status, 400);
      assert.match(body.message, message);
    });
  }
});

describe("/testing/webhooks", () => {
  test("registers a server with a certificate of the kit", async () => {
    const { certificate, key } = (await send("POST", "/testing/certificates", { hosts: ["127.0.0.1"] })).body;
    const hook = https.createServer({ cert: certificate, key }, denying);
    const url = `https://127.0.0.1:${await listen(hook)}/validate`;
    const added = await send("POST", "/testing/webhooks", webhook(url));
    assert.deepEqual([added.status, added.body.kind, added.body.url], [201, "ValidatingWebhookConfiguration", url]);
    const { status, body } = await send("POST", maps, { metadata: { name: "a" } });
    assert.equal(status, 400);
    assert.equal(
      body.message,
      'admission webhook "of.another.process" denied the request: no, at /validate?timeout=10s',
    );
    assert.deepEqual((await send("GET", "/testing/webhooks")).body, { webhooks: [added.body] });
    const path = `/testing/webhooks/${added.body.name}`;
    assert.deepEqual(await send("DELETE", path), { status: 200, body: added.body });
    assert.equal((await send("DELETE", path)).status, 404);
    assert.deepEqual((await send("GET", "/testing/webhooks")).body, { webhooks: [] });
    assert.equal((await send("POST", maps, { metadata: { name: "a" } })).status, 201);
    hook.closeAllConnections();
    hook.close();
  });

  test("forwards to a plain HTTP server of this machine", async () => {
    const hook = http.createServer(denying);
    const url = `http://127.0.0.1:${await listen(hook)}/validate?x=1`;
    const added = await send("POST", "/testing/webhooks", webhook(url));
    assert.equal(added.status, 201);
    assert.match(added.body.url, /^https:\/\/127\.0\.0\.1:\d+\/test-webhook-/);
    const { body } = await send("POST", maps, { metadata: { name: "b" } });
    assert.match(body.message, /: no, at \/validate\?x=1&timeout=10s$/);
    hook.closeAllConnections();
    hook.close();
    const failed = await send("POST", maps, { metadata: { name: "b" } });
    assert.equal(failed.status, 500);
    assert.match(failed.body.message, /failed calling webhook "of\.another\.process": .*ECONNREFUSED/);
    await send("DELETE", `/testing/webhooks/${added.body.name}`);
  });

  const wrong: [what: string, body: object, message: RegExp][] = [
    ["no url", { validating: {} }, /^url: must be a string$/],
    ["no webhook", { url: "https://127.0.0.1:1/" }, /^webhook: must have one of the fields validating, mutating, conv/],
    [
      "another host by HTTP",
      webhook("http://example.com/"),
      /^url: must begin with https:\/\/, or with http:\/\/ and a host/,
    ],
    ["a loopback name of another host", webhook("http://localhost.example.com/"), /^url: must begin/],
    ["another protocol", webhook("ftp://127.0.0.1/"), /^url: must begin/],
    ["no address", webhook("validate"), /^url: must be a URL/],
    ["no PEM", { ...webhook("https://127.0.0.1:1/"), caBundle: "x" }, /^caBundle: must be certificates as PEM$/],
  ];
  for (const [what, sent, message] of wrong) {
    test(`rejects ${what}`, async () => {
      const { status, body } = await send("POST", "/testing/webhooks", sent);
      assert.equal(status, 400);
      assert.match(body.message, message);
    });
  }

  test("reports that the certificate is not valid", async () => {
    const { certificate, key } = (await send("POST", "/testing/certificates", { hosts: ["elsewhere"] })).body;
    const hook = https.createServer({ cert: certificate, key }, denying);
    const url = `https://127.0.0.1:${await listen(hook)}/`;
    const { status, body } = await send("POST", "/testing/webhooks", webhook(url));
    assert.equal(status, 400);
    assert.match(body.message, /cannot be called: Hostname\/IP does not match certificate's altnames/);
    hook.closeAllConnections();
    hook.close();
  });
});

describe("/testing/install", () => {
  const definition = customResourceDefinition("gadgets.example.com", "Gadget");
  const yaml = `apiVersion: example.com/v1
kind: Gadget
metadata: {name: a}
---
${JSON.stringify(definition)}
`;
  test("installs a YAML stream, and removes what it created", async () => {
    const added = await send("POST", "/testing/install?namespace=kube-public", yaml);
    assert.equal(added.status, 201);
    const { name, objects } = added.body;
    const group = "apiextensions.k8s.io/v1";
    assert.deepEqual(objects, [
      {
        apiVersion: group,
        kind: "CustomResourceDefinition",
        namespace: "",
        name: "gadgets.example.com",
        created: true,
      },
      { apiVersion: "example.com/v1", kind: "Gadget", namespace: "kube-public", name: "a", created: true },
    ]);
    assert.deepEqual((await send("GET", "/testing/install")).body, { installations: [added.body] });
    assert.deepEqual(await send("DELETE", `/testing/install/${name}`), { status: 200, body: added.body });
    assert.equal((await send("DELETE", `/testing/install/${name}`)).status, 404);
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/gadgets.example.com";
    assert.equal((await send("GET", path)).status, 404);
  });

  const wrong: [what: string, body: string | object, path: string, status: number, message: RegExp][] = [
    ["an empty body", "", "", 400, /^body: there is no object in it$/],
    ["no kind", {}, "", 400, /^body, line 1: needs the fields apiVersion and kind$/],
    [
      "an invalid object",
      { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "A" } },
      "",
      400,
      /^body, line 1: the ConfigMap A: ConfigMap "A" is invalid/,
    ],
    ["an invalid namespace", yaml, "?namespace=a/b", 400, /^namespace: must be the name of a namespace$/],
    ["too much", `# ${"x".repeat(16 << 20)}`, "", 413, /too large|limit/],
  ];
  for (const [what, sent, query, code, message] of wrong) {
    test(`rejects ${what}`, async () => {
      const { status, body } = await send("POST", `/testing/install${query}`, sent);
      assert.equal(status, code);
      assert.match(body.message, message);
    });
  }
});

test("the paths need rights to non-resource URLs", async () => {
  for (const path of ["certificates", "webhooks", "install"]) {
    const response = await server.fetch(`/testing/${path}`, { method: "POST", body: {}, as: { user: "ann" } });
    assert.equal(response.status, 403);
  }
});
