/** Runs upstream's e2e.test, which has the conformance tests, and reads its report. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { getUpstreamProgram, upstreamDirectory } from "../../../test/support/upstream-programs.ts";
import type { Outcome } from "../exceptions.ts";
import type { Cluster } from "./cluster.ts";

export interface ConformanceOutcome extends Outcome {
  /** Of a failure. */
  readonly message?: string | undefined;
  readonly seconds: number;
}

export interface ConformanceReport {
  readonly outcomes: readonly ConformanceOutcome[];
  readonly seconds: number;
  /** Of the log and the report. */
  readonly directory: string;
}

/** What is read of Ginkgo's report, in which times are nanoseconds. Source: github.com/onsi/ginkgo/v2/types. */
interface Suite {
  readonly RunTime: number;
  readonly SpecReports: readonly {
    readonly ContainerHierarchyTexts: readonly string[] | null;
    readonly LeafNodeText: string;
    readonly LeafNodeType: string;
    readonly State: string;
    readonly RunTime: number;
    readonly Failure?: { readonly Message: string };
  }[];
}

/** @param focus a regular expression of Go for names @throws Error when the program wrote no report */
export async function runTests({ name, kubeconfig }: Cluster, focus: string): Promise<ConformanceReport> {
  const directory = join(upstreamDirectory, `conformance-${name}`);
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, "kubeconfig"), kubeconfig, { mode: 0o600 });
  const log = openSync(join(directory, "log"), "w");
  const child = spawn(
    getUpstreamProgram("e2e.test"),
    [
      `--kubeconfig=${join(directory, "kubeconfig")}`,
      "--provider=skeleton",
      "--num-nodes=2",
      "--allowed-not-ready-nodes=-1",
      "--minStartupPods=-1",
      `--report-dir=${directory}`,
      `--ginkgo.focus=${focus}`,
      "--ginkgo.no-color",
      "--ginkgo.v",
      "--ginkgo.timeout=3h",
      "--ginkgo.json-report=report.json",
    ],
    { cwd: directory, stdio: ["ignore", log, log] },
  );
  await once(child, "exit");
  closeSync(log);
  const [suite] = JSON.parse(readFileSync(join(directory, "report.json"), "utf8")) as [Suite];
  return { directory, seconds: suite.RunTime / 1e9, outcomes: outcomesOf(suite) };
}

function outcomesOf({ SpecReports }: Suite): ConformanceOutcome[] {
  return SpecReports.filter(({ LeafNodeType }) => LeafNodeType === "It").map((spec) => ({
    name: [...(spec.ContainerHierarchyTexts ?? []), spec.LeafNodeText].join(" "),
    state: stateOf(spec.State),
    message: spec.Failure?.Message,
    seconds: spec.RunTime / 1e9,
  }));
}

function stateOf(state: string): Outcome["state"] {
  if (state === "passed") return "passed";
  return state === "skipped" || state === "pending" ? "skipped" : "failed";
}

/** A regular expression of Go for exactly these names. */
export function focusOn(names: readonly string[]): string {
  return names.map((name) => `${name.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")}$`).join("|");
}
