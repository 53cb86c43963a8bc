import assert from "node:assert/strict";
import { test } from "node:test";
import { endpointOf } from "./client-config.ts";

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

const noAddress = (): never => assert.fail();

for (const [path, called] of rows) {
  test(`calls ${called} for the path ${JSON.stringify(path)}`, () => {
    for (const origin of ["https://127.0.0.1:9443", "https://[::1]"])
      assert.equal(endpointOf({ url: origin + path }, noAddress).url, origin + called);
    const service = { namespace: "n", name: "s", path };
    assert.equal(endpointOf({ service }, noAddress).url, `https://s.n.svc:443${called}`);
  });
}
