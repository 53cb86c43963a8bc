import assert from "node:assert/strict";
import { test } from "node:test";
import { manualClock } from "../../test/support/manual-clock.ts";
import type { Installer } from "../catalog/install.ts";
import { followCompactions } from "./storage.ts";

test("caches follow the compactions of the store that has their keys", () => {
  const clock = manualClock();
  const forgotten: string[] = [];
  const caches = new Map(
    ["/pods/", "/events/"].map((prefix) => [
      prefix,
      { forgetBefore: (revision: number) => void forgotten.push(`${prefix} ${revision}`) },
    ]),
  ) as unknown as ReturnType<Installer["caches"]>;
  const compacted: Record<string, number> = { "/pods/": 0, "/events/": 0 };
  const stop = followCompactions(clock, (prefix) => ({ compacted: () => compacted[prefix] as number }), {
    caches: () => caches,
  });
  forgotten.length = 0;
  compacted["/events/"] = 7;
  clock.advance(15_000);
  assert.deepEqual(forgotten, ["/pods/ 0", "/events/ 7"]);
  stop();
  clock.advance(60_000);
  assert.equal(forgotten.length, 2);
});
