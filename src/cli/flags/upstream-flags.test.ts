/** Compares the rows of flags with those of kube-apiserver. `npm run golden flags` records them again. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { defaultOf } from "./defaults.ts";
import { flagGroups } from "./flag-groups.ts";

interface UpstreamFlag {
  readonly name: string;
  readonly default: string;
  readonly deprecated?: string;
}

const file = join(import.meta.dirname, "testdata/kube-apiserver-flags.jsonl");
const lines = readFileSync(file, "utf8").trim().split("\n");
const recorded: readonly UpstreamFlag[] = lines.map((line) => JSON.parse(line));
/** Those that are no rows. */
const printing = new Set(["help", "version"]);
const upstream = new Map(recorded.filter(({ name }) => !printing.has(name)).map((flag) => [flag.name, flag]));
const flags = flagGroups.flatMap(([, group]) => group);

/** The default as a value of the flag; undefined without one. */
function defaultValue({ default: text }: UpstreamFlag): string | undefined {
  const value = text.replace(/^\[(.*)\]$/, "$1");
  return value === "" || value === "<nil>" ? undefined : value;
}

test("every flag of kube-apiserver is a flag", () => {
  const names = new Set(flags.map(({ name }) => name));
  assert.deepEqual(
    [...upstream.keys()].filter((name) => !names.has(name)),
    [],
  );
});

test("every flag has one row", () => {
  assert.equal(new Set(flags.map(({ name }) => name)).size, flags.length);
});

for (const flag of flags) {
  test(`--${flag.name} has the default and the deprecation of kube-apiserver, or names the other default`, () => {
    const theirs = upstream.get(flag.name);
    assert.equal(flag.upstream === null, theirs === undefined, "null: kube-apiserver has no such flag");
    if (theirs === undefined) return;
    assert.equal(flag.deprecated, theirs.deprecated);
    const ours = defaultOf(flag) ?? flag.unset;
    assert.equal(flag.upstream ?? ours ?? "", defaultValue(theirs) ?? "");
    assert.notEqual(flag.upstream, ours ?? "", "`upstream` is for another default");
  });
}
