import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { Leases } from "./leases.ts";

test("reports for each new lease the keys of the one before, and its own first", async () => {
  const clock = manualClock();
  const reported: number[] = [];
  const granted: number[] = [];
  const leases = new Leases({
    client: {
      grantLease: async (TTL) => {
        granted.push(TTL);
        return { header: {} as never, ID: granted.length, TTL, error: "" };
      },
    },
    clock,
    reuseSeconds: 60,
    leased: (keys) => void reported.push(keys),
  });
  for (const [ttl, lease] of [
    [3600, 1],
    [3600, 1],
    [60, 2],
    [3600, 1],
  ] as const)
    assert.equal(await leases.get(ttl), lease);
  clock.advance(61_000);
  assert.equal(await leases.get(3600), 3);
  for (let at = 1; at < 1000; at++) assert.equal(await leases.get(3600), 3);
  assert.equal(await leases.get(3600), 4);
  assert.deepEqual(granted, [3660, 63, 3660, 3660]);
  assert.deepEqual(reported, [1, 1, 4, 1001]);
});
