/** Headers for browsers, through a server. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { startServerWithClient } from "../../../test/support/server-with-client.ts";
import { startTestServer } from "../../../test/support/start-test-server.ts";

const { client } = await startServerWithClient({
  corsAllowedOrigins: ["^https://(?:[a-z]+\\.)?example\\.com(:|$)", "//localhost:8080$"],
  strictTransportSecurity: ["max-age=31536000", "includeSubDomains"],
  externalHostname: "api.example.com",
});
const { client: plain } = await startServerWithClient();

for (const [origin, isAllowed] of [
  ["https://example.com", true],
  ["https://a.example.com:8443", true],
  ["http://localhost:8080", true],
  ["https://example.com.evil.org", false],
  ["https://evil.org/https://example.com", false],
  ["null", false],
  ["", false],
  [`https://${"a".repeat(5000)}.example.com`, false],
] as const) {
  test(`the origin ${origin.slice(0, 40)} is ${isAllowed ? "" : "not "}allowed`, async () => {
    const { status, headers } = await client.send({ path: "/api/v1/namespaces", headers: { origin } });
    assert.equal(status, 200);
    assert.equal(headers["access-control-allow-origin"], isAllowed ? origin : undefined);
    assert.equal(headers["access-control-allow-credentials"], isAllowed ? "true" : undefined);
  });
}

test("the question of a browser is answered without credentials, and nothing else is", async () => {
  const headers = { origin: "https://example.com", "access-control-request-method": "PUT" };
  const asked = await client.send({ method: "OPTIONS", path: "/api/v1/secrets", headers, anonymous: true });
  assert.deepEqual(
    [
      asked.status,
      asked.text,
      asked.headers["access-control-allow-methods"],
      asked.headers["access-control-expose-headers"],
    ],
    [204, "", "POST, GET, OPTIONS, PUT, DELETE, PATCH", "Date"],
  );
  const read = await client.send({ path: "/api/v1/secrets", headers, anonymous: true });
  assert.deepEqual([read.status, read.headers["access-control-allow-origin"]], [403, "https://example.com"]);
  const other = { ...headers, origin: "https://evil.org" };
  assert.notEqual((await client.send({ method: "OPTIONS", path: "/api/v1/secrets", headers: other })).status, 204);
});

test("every response has the directives of transport security, also those of errors", async () => {
  for (const path of ["/api/v1/namespaces", "/none", "/api/v1/namespaces/none", "/livez", "/metrics"]) {
    const { headers } = await client.send({ path });
    assert.equal(headers["strict-transport-security"], "max-age=31536000; includeSubDomains", path);
  }
});

test("documents name the external host with the port of the server", async () => {
  const { body } = await client.send({ path: "/api" });
  assert.match(body.serverAddressByClientCIDRs[0].serverAddress, /^api\.example\.com:\d+$/);
});

test("a server without these options sends no such header", async () => {
  const { headers } = await plain.send({ path: "/api", headers: { origin: "https://example.com" } });
  assert.deepEqual(
    Object.keys(headers).filter((name) => /access-control|strict-transport/.test(name)),
    [],
  );
});

for (const [what, options, message] of [
  ["a pattern without an end", { corsAllowedOrigins: ["^https://example.com"] }, undefined],
  ["a pattern without a start", { corsAllowedOrigins: ["example.com$"] }, /does not pin to start\/end of host/],
  ["no pattern", { corsAllowedOrigins: [""] }, /^Error: empty value in --cors-allowed-origins, help: List of/],
  ["a pattern that is none", { corsAllowedOrigins: ["^(//$"] }, /invalid regular expression: error parsing regexp/],
  ["an unknown directive", { strictTransportSecurity: ["max-age"] }, /strict-transport-security-directives invalid/],
  ["an empty directive", { strictTransportSecurity: [" "] }, /empty value in strict-transport-security-directives/],
] as const) {
  test(`a start with ${what}`, async () => {
    if (message === undefined) return (await startTestServer(options)).close(); // The colon of the scheme is enough for upstream.
    await assert.rejects(startTestServer(options), message);
  });
}
