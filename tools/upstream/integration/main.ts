/** `npm run upstream -- integration`: runs packages, and prints what the list of exceptions does not expect. */
import { recordIntegration } from "../document.ts";
import { findPackages, prepareTests, type TestedServer } from "./packages.ts";
import { type PackageRun, runPackage } from "./run.ts";

export interface IntegrationOptions {
  readonly server: TestedServer;
  readonly test?: string;
  readonly list?: true;
  readonly write?: true;
}

/** @param names of packages; all without one @returns the exit code */
export async function runIntegration(names: readonly string[], options: IntegrationOptions): Promise<number> {
  const module = prepareTests(options.server);
  const known = findPackages(module);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) {
    console.error(`no package of upstream's integration tests has the name ${unknown}: --list prints them`);
    return 2;
  }
  const chosen = names.length === 0 ? known : names;
  if (options.list) {
    for (const name of chosen) console.log(name);
    return 0;
  }
  const runs: PackageRun[] = [];
  for (const name of chosen) {
    const run = await runPackage(module, name, options);
    runs.push(run);
    for (const line of describe(run)) console.log(line);
    if (options.write) recordIntegration(run);
  }
  const sum = (count: (run: PackageRun) => number): number => runs.reduce((all, run) => all + count(run), 0);
  console.log(
    `integration: ${sum(({ passed }) => passed)} passed, ${sum(({ listed }) => listed.length)} failed as listed, ${sum(({ unlisted }) => unlisted.length)} failed, ${sum(({ skipped }) => skipped)} skipped`,
  );
  return runs.every(({ unlisted, unexpectedPasses }) => unlisted.length + unexpectedPasses.length === 0) ? 0 : 1;
}

function describe({ name, passed, skipped, listed, unlisted, unexpectedPasses, log }: PackageRun): string[] {
  return [
    ...unlisted.map((test) => `FAIL ${name} ${test}`),
    ...unexpectedPasses.map((test) => `FAIL ${name} ${test}: passes, and is in the list of exceptions`),
    `${name}: ${passed} passed, ${listed.length} failed as listed, ${unlisted.length} failed, ${skipped} skipped: ${log}`,
  ];
}
