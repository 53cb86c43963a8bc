/**
 * The attacks in a small size against a server of the sources. The bounds of CPU time are generous, because other tests run at the same
 * time; `npm run attack` has the real ones. Without limits most attacks take seconds even in this size.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { allAttacks } from "./all-attacks.ts";
import { startOwnServer } from "./own-server.ts";
import { runAttacks } from "./run-attacks.ts";
import { openTarget } from "./target.ts";

test("no attack ends or occupies the server", async (t) => {
  const own = await startOwnServer();
  t.after(() => own.close());
  const target = await openTarget(own.kubeconfig);
  t.after(() => target.close());
  const results = await runAttacks(target, allAttacks, {
    runs: 1,
    divisor: 20,
    cpuTolerance: 60,
    stallTolerance: Number.POSITIVE_INFINITY,
    report: () => {},
  });
  const problems = results.flatMap(({ attack, problem }) =>
    problem === undefined ? [] : `${attack.name}: ${problem}`,
  );
  assert.deepEqual([problems, results.length, own.ended()], [[], allAttacks.length, false], own.output());
});
