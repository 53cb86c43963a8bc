/** The packages of upstream's integration tests that judge apply, dry run, authentication and authorization. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { skipWithoutEtcd } from "../../../test/support/etcd.ts";
import { skipWithout } from "../../../test/support/needs.ts";
import { prepareTests } from "./packages.ts";
import { runPackage } from "./run.ts";

const skip = skipWithout("full", "go") || skipWithoutEtcd;

for (const name of ["dryrun", "apiserver/apply", "auth"]) {
  test(`upstream's integration tests of ${name} pass, except those that are listed`, { skip }, async () => {
    const { passed, unlisted, unexpectedPasses, log } = await runPackage(prepareTests("coxswain"), name, {
      server: "coxswain",
    });
    assert.deepEqual({ unlisted, unexpectedPasses }, { unlisted: [], unexpectedPasses: [] }, log);
    assert.ok(passed > 50, `${passed} tests have passed: ${log}`);
  });
}
