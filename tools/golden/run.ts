/**
 * `npm run golden NAME [-- ARGUMENTS]`: records the fixtures of a set again; without a name, lists the sets. ARGUMENTS are for the sets that
 * a running kube-apiserver answers. A fixture whose content stays the same is not written.
 */

import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { Command } from "commander";
import { type Fixture, type FixtureSet, readFixture, readIndex, recordFixture, root } from "./fixtures.ts";

const { sets } = readIndex();
const program = new Command("npm run golden --")
  .description("Records the fixtures of a set again; without a name, lists the sets.")
  .argument("[name]", "the name of the set")
  .argument("[arguments...]", "for the programs of sets that a running kube-apiserver answers")
  .passThroughOptions()
  .parse();
const [name, ...args] = program.args;
if (name === undefined) list();
else if (Object.hasOwn(sets, name)) record(sets[name] as FixtureSet);
else {
  console.error(`no fixture set has the name ${name}: npm run golden lists them`);
  process.exitCode = 2;
}

function list(): void {
  for (const [name, { program, upstream, usage, fixtures }] of Object.entries(sets)) {
    const cases = fixtures.reduce((sum, fixture) => sum + fixture.cases, 0);
    const called = usage === undefined ? name : `${name} -- ${usage}`;
    console.log(`${called}\n    ${cases} cases of ${upstream.join(", ")}, recorded by ${program}`);
  }
}

function record(set: FixtureSet): void {
  if (set.usage !== undefined) return runNode([set.program, ...args]);
  if (set.updatedBy !== undefined) return runNode(["--test", set.updatedBy], { UPDATE_GOLDEN: "1" });
  for (const fixture of set.fixtures) write(fixture, recordFixture(set, fixture));
}

function write({ file, varies }: Fixture, content: Buffer): void {
  if (content.equals(readFixture(file))) {
    console.log(`${file} is unchanged`);
    return;
  }
  writeFileSync(join(root, file), file.endsWith(".gz") ? gzipSync(content, { level: 9 }) : content);
  console.log(`${file} has changed${varies === undefined ? "" : ` (${varies})`}`);
}

function runNode(args: readonly string[], env: Readonly<Record<string, string>> = {}): void {
  const { status } = spawnSync(process.execPath, args, {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, ...env },
  });
  process.exitCode = status ?? 1;
}
