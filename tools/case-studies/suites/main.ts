/** `npm run case-study -- --suite NAME`: a suite of others with this server, and with what its authors use. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { studiesDirectory } from "../build.ts";
import type { ServerName } from "../servers.ts";
import type { Suite, SuiteRun } from "./contract.ts";
import { differingTests, summaryOf } from "./results.ts";
import { runSuite, type SuiteServer } from "./run-suite.ts";
import { changedCopy } from "./suites.ts";

/** @param only runs with one server, without a comparison @returns whether tests differ */
export async function runSuites(chosen: readonly Suite[], only: ServerName | undefined): Promise<boolean> {
  let differs = false;
  for (const suite of chosen) {
    const folder = suite.prepare();
    const other: SuiteServer = suite.server === "fakes" ? "fake" : "kube-apiserver";
    const runs: SuiteRun[] = [];
    for (const server of only === undefined ? (["coxswain", other] as const) : [only]) {
      const results = join(studiesDirectory, "runs", `suite-${suite.name}`);
      mkdirSync(results, { recursive: true });
      console.log(`Running the suite ${suite.name} with ${server} …`);
      const used = server === "coxswain" ? changedCopy(suite, folder) : folder;
      const run = await runSuite(suite, server, used, join(results, `${server}.log`));
      writeFileSync(join(results, `${server}.json`), JSON.stringify(run, undefined, 2));
      console.log(`  ${server}: ${summaryOf(run)}`);
      runs.push(run);
    }
    const [ours, theirs] = runs;
    if (ours === undefined || theirs === undefined) continue;
    const found = differingTests(suite, ours, theirs);
    for (const name of found)
      console.log(`    ${name}: ${ours.outcomes[name] ?? "missing"} · ${theirs.outcomes[name] ?? "missing"}`);
    for (const [name, reason] of Object.entries(suite.differing ?? {})) console.log(`    expected: ${name}: ${reason}`);
    if (found.length === 0) console.log("  no other test differs");
    differs ||= found.length > 0;
  }
  return differs;
}
