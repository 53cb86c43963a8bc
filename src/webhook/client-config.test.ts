import assert from "node:assert/strict";
import { test } from "node:test";
import { noLoopback } from "../../test/support/loopback-credentials.ts";
import { endpointOf, type WebhookClientConfig } from "./client-config.ts";

/** The path in a configuration, and the path that is called. */
const rows: readonly (readonly [path: string, called: string])[] = [
  ["", "/"],
  ["/", "/"],
  ["/validate", "/validate"],
  ["//validate", "/validate"],
  ["/validate/", "/validate"],
  ["/a/./b/../c//", "/a/c"],
  ["/../a", "/a"],
  ["/a%2Fb/%2e", "/a%2Fb/%2e"],
];

const resolve = (): never => assert.fail();
const needs = { resolve, loopback: noLoopback };

for (const [path, called] of rows) {
  test(`calls ${called} for the path ${JSON.stringify(path)}`, () => {
    for (const origin of ["https://127.0.0.1:9443", "https://[::1]"])
      assert.equal(endpointOf({ url: origin + path }, needs).url, origin + called);
    const service = { namespace: "n", name: "s", path };
    assert.equal(endpointOf({ service }, needs).url, `https://s.n.svc:443${called}`);
  });
}

const serviceOf = (namespace: string, name: string, port?: number): WebhookClientConfig => ({
  service: { namespace, name, path: "/apis/x", ...(port !== undefined && { port }) },
});

/** Configurations, and whether they get the credentials by which the server calls itself. */
const own: readonly (readonly [config: WebhookClientConfig, isOwn: boolean])[] = [
  [serviceOf("default", "kubernetes"), true],
  [serviceOf("default", "kubernetes", 443), true],
  [serviceOf("default", "kubernetes", 6443), false],
  [serviceOf("other", "kubernetes"), false],
  [serviceOf("default", "kubernetes2"), false],
  [{ url: "https://kubernetes.default.svc" }, true],
  [{ url: "https://kubernetes.default.svc/apis/x" }, true],
  [{ url: "https://kubernetes.default.svc:443/apis/x" }, true],
  [{ url: "https://kubernetes.default.svc:0443/apis/x" }, false],
  [{ url: "https://kubernetes.default.svc:4430/" }, false],
  [{ url: "https://KUBERNETES.default.svc/" }, false],
  [{ url: "https://kubernetes.default.svc.example.com/" }, false],
  [{ url: "https://kubernetes.default.svc@example.com/" }, false],
  [{ url: "https://example.com/https://kubernetes.default.svc/" }, false],
  [{ url: "http://kubernetes.default.svc:443/" }, false],
  [{ url: "https://kubernetes.default/" }, false],
];

for (const [config, isOwn] of own) {
  test(`${isOwn ? "gives" : "does not give"} ${JSON.stringify(config)} the server's own credentials`, () => {
    const { token, pinned, ca } = endpointOf(
      { ...config, caBundle: Buffer.from("a bundle").toString("base64") },
      needs,
    );
    assert.deepEqual([token, ca], isOwn ? ["loopback", undefined] : [undefined, "a bundle"]);
    assert.equal(pinned !== undefined, isOwn);
  });
}
