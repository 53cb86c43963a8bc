/** `npm run upstream -- conformance`: upstream's conformance tests against a server with nodes and controllers. */
import { recordConformance } from "../document.ts";
import { compareWithExceptions } from "../exceptions.ts";
import { startCluster } from "./cluster.ts";
import { readList } from "./list.ts";
import { focusOn, runTests } from "./run.ts";

export interface ConformanceOptions {
  readonly server: "coxswain" | "upstream";
  /** A regular expression of Go; it replaces the list. */
  readonly focus?: string;
  readonly all?: true;
  readonly write?: true;
}

/** @returns the exit code */
export async function runConformance({ server, focus, all, write }: ConformanceOptions): Promise<number> {
  const { withoutContainers, exceptions } = readList();
  const cluster = await startCluster(server);
  try {
    const listed = all ? "\\[Conformance\\]" : focusOn(withoutContainers);
    const report = await runTests(cluster, focus ?? listed);
    const outcomes = report.outcomes.filter(({ state }) => state !== "skipped");
    const comparison = compareWithExceptions(outcomes, server === "coxswain" ? exceptions : []);
    const { passed, listed: expected, unlisted, unexpectedPasses } = comparison;
    for (const name of unlisted) console.log(`FAIL ${name}: ${messageOf(name)}`);
    for (const name of unexpectedPasses) console.log(`FAIL ${name}: passes, and is in the list of exceptions`);
    if (write) recordConformance(server, outcomes);
    console.log(
      `conformance: ${passed} passed, ${expected.length} failed as listed, ${unlisted.length} failed in ${Math.round(report.seconds)} s: ${report.directory}`,
    );
    return unlisted.length + unexpectedPasses.length === 0 && passed > 0 ? 0 : 1;

    function messageOf(name: string): string {
      const message = outcomes.find((outcome) => outcome.name === name)?.message ?? "";
      return message.slice(0, 300).replaceAll("\n", " ");
    }
  } finally {
    await cluster.close();
  }
}
