/** The documents name files that exist, and all feature gates that have an effect. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

for (const document of globSync(["README.md", "docs/*.md"], { cwd: root })) {
  test(`${document} names files that there are`, () => {
    const named = [
      ...readFileSync(join(root, document), "utf8").matchAll(/[`(]((?:src|test|docs|tools|bench)\/[^`)\s]+)[`)]/g),
    ].map(([, path]) => path as string);
    assert.deepEqual(
      named.filter((path) => globSync(path, { cwd: root }).length === 0),
      [],
    );
  });
}

/** Kinds that have the name of a gate. */
const kindsNamedAsGates = ["MutatingAdmissionPolicy", "VolumeAttributesClass"];

test("docs/compatibility.md lists the feature gates that the code reads", () => {
  const { gates }: { gates: { name: string }[] } = JSON.parse(readFileSync(join(root, "src/data/gates.json"), "utf8"));
  const names = new Set(gates.map(({ name }) => name));
  const files = globSync("src/**/*.ts", { cwd: root }).filter(
    (file) => !/\.test\.ts$|^src\/(?:data|bootstrap\/rbac)\//.test(file),
  );
  const texts = files.flatMap((file) =>
    [...readFileSync(join(root, file), "utf8").matchAll(/"([A-Za-z0-9]+)"/g)].map(([, text]) => text as string),
  );
  const read = new Set(texts.filter((text) => names.has(text) && !kindsNamedAsGates.includes(text)));
  const list =
    /These gates also change.*?No other gate/s.exec(readFileSync(join(root, "docs/compatibility.md"), "utf8"))?.[0] ??
    "";
  const listed = [...list.matchAll(/`([A-Za-z0-9]+)`/g)].map(([, name]) => name as string);
  assert.deepEqual(listed.sort(), [...read].sort());
});
