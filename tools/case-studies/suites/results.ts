/** Reads the results of test runners, and compares them. */
import type { Outcome, Suite, SuiteRun } from "./contract.ts";

interface GoEvent {
  readonly Action: string;
  readonly Package: string;
  readonly Test?: string;
}

/** @param output of `go test -json`: a line for each event @returns the outcomes of top-level tests */
export function goOutcomes(output: string): Record<string, Outcome> {
  const outcomes: Record<string, Outcome> = {};
  for (const line of output.split("\n")) {
    if (!line.startsWith("{")) continue; // The compiler also writes.
    const { Action, Package, Test } = JSON.parse(line) as GoEvent;
    if (Test === undefined || Test.includes("/")) continue;
    if (Action === "pass" || Action === "fail" || Action === "skip")
      outcomes[`${Package.split("/").slice(-2).join("/")}.${Test}`] = Action;
  }
  return outcomes;
}

/** @param report in the XML of JUnit, as pytest and Vitest write it */
export function junitOutcomes(report: string): Record<string, Outcome> {
  const outcomes: Record<string, Outcome> = {};
  for (const part of report.split("<testcase ").slice(1)) {
    const [attributes = "", ...inner] = part.split("</testcase>")[0]?.split(">") ?? [];
    const name = `${attributeOf(attributes, "classname")}.${attributeOf(attributes, "name")}`;
    const text = inner.join(">");
    const failed = text.includes("<failure") || text.includes("<error");
    outcomes[name] = failed ? "fail" : text.includes("<skipped") ? "skip" : "pass";
  }
  return outcomes;
}

function attributeOf(attributes: string, name: string): string {
  const start = ` ${attributes}`.indexOf(` ${name}="`);
  if (start === -1) return "";
  const value = attributes.slice(start + name.length + 2);
  return value.slice(0, value.indexOf('"'));
}

/** Tests with another outcome, except those that may differ. */
export function differingTests({ differing = {} }: Suite, ours: SuiteRun, theirs: SuiteRun): string[] {
  const names = new Set([...Object.keys(ours.outcomes), ...Object.keys(theirs.outcomes)]);
  const differs = (name: string): boolean => ours.outcomes[name] !== theirs.outcomes[name];
  return [...names].filter((name) => differs(name) && !Object.hasOwn(differing, name)).sort();
}

/** `46 of 47 pass; 12 s, 19.2 s of CPU and 333 MiB of the server`. */
export function summaryOf({ outcomes, seconds, cpuSeconds, memoryMiB }: SuiteRun): string {
  const all = Object.values(outcomes).filter((one) => one !== "skip");
  const passed = all.filter((one) => one === "pass").length;
  const cost =
    cpuSeconds === 0 ? "" : `, ${cpuSeconds.toFixed(1)} s of CPU and ${memoryMiB.toFixed(0)} MiB of the server`;
  return `${passed} of ${all.length} pass; ${seconds.toFixed(0)} s${cost}`;
}
