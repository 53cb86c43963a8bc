/** The addresses that proxies may connect to. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ApiError } from "../../apimachinery/errors.ts";
import { findProxyableAddress, type Lookup, proxyableAddress } from "./check-address.ts";

const strict = { allowLoopback: false };
const loopback = { allowLoopback: true };

/** The result, and the result when loopback addresses are allowed. */
const rows: [address: string, allowed: string | undefined, inTests: string | undefined][] = [
  ["10.0.0.1", "10.0.0.1", "10.0.0.1"],
  ["192.168.0.1", "192.168.0.1", "192.168.0.1"],
  ["010.000.000.001", "10.0.0.1", "10.0.0.1"],
  ["::ffff:10.0.0.1", "10.0.0.1", "10.0.0.1"],
  ["fd00::2", "fd00::2", "fd00::2"],
  ["2001:DB8:0:0::1", "2001:db8::1", "2001:db8::1"],
  ["127.0.0.1", undefined, "127.0.0.1"],
  ["127.1.2.3", undefined, "127.1.2.3"],
  ["127.000.000.001", undefined, "127.0.0.1"],
  ["::1", undefined, "::1"],
  ["0:0::0:1", undefined, "::1"],
  ["::ffff:127.0.0.1", undefined, "127.0.0.1"],
  ["::ffff:7f00:1", undefined, "127.0.0.1"],
  ["169.254.169.254", undefined, undefined],
  ["::ffff:169.254.169.254", undefined, undefined],
  ["::ffff:a9fe:a9fe", undefined, undefined],
  ["fe80::1", undefined, undefined],
  ["fe80::1%eth0", undefined, undefined],
  ["febf::1", undefined, undefined],
  ["0.0.0.0", undefined, undefined],
  ["::", undefined, undefined],
  ["::ffff:0.0.0.0", undefined, undefined],
  ["224.0.0.1", undefined, undefined],
  ["239.255.255.255", undefined, undefined],
  ["::ffff:224.0.0.1", undefined, undefined],
  ["ff02::1", undefined, undefined],
  ["ff0e::1", undefined, undefined],
  ["255.255.255.255", undefined, undefined],
  ["::ffff:255.255.255.255", undefined, undefined],
  ["", undefined, undefined],
  ["localhost", undefined, undefined],
  ["127.1", undefined, undefined],
  ["2130706433", undefined, undefined],
  ["0x7f.0.0.1", undefined, undefined],
  ["10.0.0.1 ", undefined, undefined],
];

for (const [address, allowed, inTests] of rows)
  test(`${JSON.stringify(address)} is ${allowed ?? "not allowed"}`, () => {
    assert.equal(proxyableAddress(address, strict), allowed);
    assert.equal(proxyableAddress(address, loopback), inTests);
  });

const failing =
  (code: string): Lookup =>
  () =>
    Promise.reject(Object.assign(new Error(code), { code }));

const names: [what: string, host: string, lookup: Lookup, expected: string][] = [
  ["the first of several addresses", "node", async () => ["10.0.0.1", "10.0.0.2"], "10.0.0.1"],
  ["an address without a lookup", "10.0.0.1", failing("ENOTFOUND"), "10.0.0.1"],
  ["one address that is not allowed", "node", async () => ["10.0.0.1", "127.0.0.1"], "address not allowed"],
  [
    "an address that is not allowed, without a lookup",
    "::ffff:127.0.0.1",
    async () => ["10.0.0.1"],
    "address not allowed",
  ],
  ["an odd spelling of an address, which is a name", "127.1", async () => ["127.0.0.1"], "address not allowed"],
  ["no addresses", "node", async () => [], "no addresses for hostname"],
  ["an unknown name", "node", failing("ENOTFOUND"), "lookup node: no such host"],
  ["a name server that fails", "node", failing("EAI_AGAIN"), "lookup node: server misbehaving"],
];

for (const [what, host, lookup, expected] of names)
  test(`finds ${what}`, async () => {
    const found = await findProxyableAddress(host, strict, lookup).catch((error: unknown) => {
      assert.ok(error instanceof ApiError);
      assert.equal(error.status.code, 400);
      return error.message;
    });
    assert.equal(found, expected);
  });

test("resolves a name once, so that a later answer has no effect", async () => {
  const answers = [["10.0.0.1"], ["127.0.0.1"]];
  let lookups = 0;
  const found = await findProxyableAddress("rebinding", strict, async () => answers[lookups++] as string[]);
  assert.deepEqual([found, lookups], ["10.0.0.1", 1]);
});
