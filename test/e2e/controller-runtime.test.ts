/**
 * controller-runtime's own suites, unchanged, with `coxswain envtest` as their control plane. Runs with
 * COXSWAIN_TEST_FULL=1 if Go is installed.
 */
import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { kubectls } from "../support/kubectl.ts";
import { skipWithout } from "../support/needs.ts";
import { main } from "../support/program.ts";

const module = "sigs.k8s.io/controller-runtime";
const version = "v0.24.1";

/**
 * Tests that download other servers, and one that updates a definition as soon as its kind is served, which conflicts with
 * the write of its condition Established (docs/compatibility/custom-resources.md).
 */
const skippedTests = [
  "/aggregatedDiscovery=false",
  "/aggregatedDiscovery=true/LazyRESTMapper_should_invalidate_the_group_cache_if_a_version_is_not_found",
];

/** The suites that use a server, and the tests that they skip. */
const suites: readonly (readonly [name: string, skipped?: string])[] = [
  ["builder"],
  ["cache"],
  ["client"],
  ["client/apiutil", skippedTests.join("|")],
  ["cluster"],
  ["controller"],
  ["controller/controllerutil"],
  ["envtest"],
  ["handler"],
  ["internal/controller"],
  ["internal/recorder"],
  ["manager"],
  ["manager/internal/integration"],
  ["metrics/filters"],
  ["reconcile"],
  ["source"],
  ["webhook"],
];

const [kubectl] = kubectls();
const skip = skipWithout("full", "go", "kubectl");

describe("the suites of controller-runtime", { skip, timeout: 3_600_000 }, () => {
  let directory: string;
  let environment: NodeJS.ProcessEnv;
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "coxswain-test-"));
    const assets = join(directory, "assets");
    execFileSync(process.execPath, [main, "envtest", assets]);
    symlinkSync(kubectl as string, join(assets, "kubectl"));
    environment = { ...process.env, GOFLAGS: "-mod=mod -buildvcs=false", KUBEBUILDER_ASSETS: assets };
    const source = join(directory, "source");
    mkdirSync(source);
    const go = (...args: string[]): unknown => execFileSync("go", args, { cwd: source, env: environment });
    go("mod", "init", "suites");
    go("mod", "edit", `-require=${module}@${version}`);
  });
  after(() => rmSync(directory, { recursive: true, force: true }));

  for (const [name, skipped] of suites) {
    test(name, async () => {
      const options = ["-count=1", "-p=2", ...(skipped === undefined ? [] : [`-skip=${skipped}`])];
      const { stdout } = await promisify(execFile)("go", ["test", ...options, `${module}/pkg/${name}`], {
        cwd: join(directory, "source"),
        env: environment,
        maxBuffer: 64 << 20,
      });
      assert.match(stdout, /^ok /m);
    });
  }
});
