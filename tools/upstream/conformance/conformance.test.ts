/** The conformance tests of the API machinery that need no container. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { skipWithoutUpstream } from "../../../test/support/upstream-programs.ts";
import { compareWithExceptions } from "../exceptions.ts";
import { startCluster } from "./cluster.ts";
import { readList } from "./list.ts";
import { focusOn, runTests } from "./run.ts";

test("the conformance tests of the API machinery pass, except those that are listed", {
  skip: skipWithoutUpstream("e2e.test", "kube-controller-manager"),
}, async () => {
  const { withoutContainers, exceptions } = readList();
  const names = withoutContainers.filter((name) => name.startsWith("[sig-api-machinery]"));
  const cluster = await startCluster("coxswain");
  try {
    const { outcomes, directory } = await runTests(cluster, focusOn(names));
    const ran = outcomes.filter(({ state }) => state !== "skipped");
    const { unlisted, unexpectedPasses } = compareWithExceptions(ran, exceptions);
    assert.deepEqual({ unlisted, unexpectedPasses }, { unlisted: [], unexpectedPasses: [] }, directory);
    assert.equal(ran.length, names.length);
  } finally {
    await cluster.close();
  }
});
