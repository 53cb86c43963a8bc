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

/** The groups of attacks whose limits the server has. */
const groups: readonly string[] = ["h", "HTTP/2"];

test("no attack ends or occupies the server", async (t) => {
  const own = await startOwnServer();
  t.after(() => own.close());
  const target = await openTarget(own.kubeconfig);
  t.after(() => target.close());
  const attacks = allAttacks.filter(({ group }) => groups.includes(group));
  const results = await runAttacks(target, attacks, {
    runs: 1,
    divisor: 10,
    cpuTolerance: 60,
    stallTolerance: Number.POSITIVE_INFINITY,
    report: () => {},
  });
  const problems = results.flatMap(({ attack, problem }) =>
    problem === undefined ? [] : `${attack.name}: ${problem}`,
  );
  assert.deepEqual([problems, results.length, own.ended()], [[], attacks.length, false], own.output());
});
