/**
 * Runs the tests of the engine etcd with an etcd whose answers to progress requests can precede
 * events: COXSWAIN_OLD_ETCD names one before 3.4.31. Those of informers also need Go.
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { describe, test } from "node:test";
import { oldEtcdProgram, skipWithoutOldEtcd } from "../support/etcd.ts";
import { skipWithout } from "../support/needs.ts";

const root = join(import.meta.dirname, "..", "..");

/** The files, and those of their tests that need etcd. */
const files: [file: string, names?: string, skip?: string | false][] = [
  ["src/storage/etcd/etcd.test.ts"],
  ["src/storage/etcd/faults.test.ts"],
  ["src/storage/etcd/compactor.test.ts"],
  ["src/storage/copy/copy.test.ts"],
  ["test/e2e/model/model.test.ts", "etcd"],
  ["test/e2e/concurrency.test.ts", "etcd"],
  ["test/e2e/etcd-down.test.ts"],
  ["test/e2e/etcd-restored.test.ts"],
  ["test/e2e/informer-client.test.ts", "etcd", skipWithout("go")],
];

describe("with an old etcd", { skip: skipWithoutOldEtcd }, () => {
  for (const [file, names = ".", skip = false] of files)
    test(`${file} passes`, { skip }, () => {
      const { NODE_TEST_CONTEXT: _own, ...environment } = process.env;
      const isFull = file.includes("informer");
      const { status, stdout } = spawnSync(
        process.execPath,
        ["--test", "--test-reporter=spec", `--test-name-pattern=${names}`, join(root, file)],
        {
          env: { ...environment, COXSWAIN_ETCD: oldEtcdProgram, ...(isFull && { COXSWAIN_TEST_FULL: "1" }) },
          encoding: "utf8",
        },
      );
      assert.equal(status, 0, stdout);
      assert.match(stdout, /^ℹ pass [1-9]/m);
      assert.match(stdout, /^ℹ skipped 0$/m);
    });
});
