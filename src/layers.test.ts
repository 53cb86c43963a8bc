/** Which way imports point, held as data. Source: docs/architecture.md, "Which way imports point". */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const root = import.meta.dirname;

/** A part, and what its files may import besides the part itself. `contract` stands for any part's contract.ts. */
const layers: [part: string, allowed: readonly string[]][] = [
  ["lib", []],
  ["data", []],
  ["api", ["lib"]],
  ["cel-environment", ["api", "lib"]],
  ["storage", ["api"]],
  ["watch-cache", ["api", "lib", "contract"]],
  ["resource", ["api", "lib", "data", "watch-cache", "contract"]],
  ["registry", ["api", "lib", "resource", "watch-cache", "contract"]],
  ["admission", ["api", "lib", "resource", "contract"]],
  ["authentication", ["api", "lib", "cel-environment", "webhook", "contract"]],
  ["authorization", ["api", "lib", "watch-cache", "cel-environment", "webhook", "contract"]],
  ["apis", ["api", "lib", "resource", "registry", "webhook", "contract"]],
  ["controllers", ["api", "lib", "resource", "registry", "watch-cache", "webhook", "contract"]],
  ["boot", ["api", "lib", "resource", "registry", "watch-cache", "authorization", "contract"]],
  ["health", ["api", "lib", "http", "contract"]],
  ["metrics", ["api", "lib", "http", "contract"]],
  ["audit", ["api", "lib", "http", "webhook", "contract"]],
  ["webhook", ["api", "lib"]],
  ["http", ["api", "lib", "resource", "registry", "watch-cache", "contract"]],
];

const files = globSync("**/*.ts", { cwd: root }).filter(
  (file) => !file.endsWith(".test.ts") && !file.endsWith(".suite.ts"),
);

/** Static imports of a file, as paths from src/. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path as string)),
  );
}

for (const [part, allowed] of layers) {
  test(`${part} imports only ${allowed.length === 0 ? "itself" : allowed.join(", ")}`, () => {
    const wrong = files
      .filter((file) => file.startsWith(`${part}/`))
      .flatMap((file) => importsOf(file).map((imported) => ({ file, imported })))
      .filter(({ imported }) => {
        const target = imported.split("/")[0] as string;
        return (
          target !== part &&
          !allowed.includes(target) &&
          !(allowed.includes("contract") && imported.endsWith("/contract.ts"))
        );
      });
    assert.deepEqual(wrong, []);
  });
}

test("one file writes to the store", () => {
  const writing = files.filter(
    (file) =>
      !/^(?:storage|testing)\//.test(file) && /\bstorage\.commit\(/.test(readFileSync(join(root, file), "utf8")),
  );
  assert.deepEqual(writing, ["registry/commit.ts"]);
});

test("every part is in the table", () => {
  const known = new Set([...layers.map(([part]) => part), "cli", "server", "testing", "e2e"]);
  const parts = new Set(files.filter((file) => file.includes("/")).map((file) => file.split("/")[0] as string));
  assert.deepEqual(
    [...parts].filter((part) => !known.has(part)),
    [],
  );
});

/** What only some servers need, and packages that are large. `node:http` loads Node's fetch when it is imported. */
const loadedOnDemand = [
  "lib/cel/",
  "cel-environment/",
  "authentication/oidc/",
  "storage/lmdb/",
  "re2js",
  "jose",
  "lmdb",
  "ws",
  "@peculiar/",
  "node:http",
];

test("a start loads nothing that it may not need", () => {
  const loaded = new Set(["server.ts"]);
  for (const file of loaded) for (const imported of file.endsWith(".ts") ? loadedBy(file) : []) loaded.add(imported);
  assert.ok(loaded.has("http/listener/listen.ts"));
  const early = [...loaded].filter((name) =>
    loadedOnDemand.some((one) => name === one || (one.endsWith("/") && name.startsWith(one))),
  );
  assert.deepEqual(early, []);
});

/** What is loaded before a file runs: paths from src/, and packages by name. */
function loadedBy(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  const names = [...text.matchAll(/^(?:import|export) (?!type )(?:[^;"]* from )?"([^"]+)";/gm)].map(
    ([, name]) => name as string,
  );
  return names.map((name) => (name.startsWith(".") ? relative(root, join(root, dirname(file), name)) : name));
}

test("the command `store` loads nothing of the server but its storage", () => {
  const loaded = new Set(["cli/store/command.ts"]);
  for (const file of loaded) for (const imported of loadedBy(file)) if (imported.endsWith(".ts")) loaded.add(imported);
  assert.deepEqual(
    [...loaded],
    ["cli/store/command.ts", "cli/store/contract.ts"],
    "each of its commands is loaded when it is run",
  );
  const all = new Set(files.filter((file) => file.startsWith("cli/store/")));
  for (const file of all) for (const imported of loadedBy(file)) if (imported.endsWith(".ts")) all.add(imported);
  const others = [...all].filter((file) => !/^(?:cli\/store|storage|api)\//.test(file));
  assert.deepEqual(others, []);
});
