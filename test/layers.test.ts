/** The allowed directions of imports, as data. Source: docs/architecture.md, "Import direction". */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");

/**
 * A part of src/, and what its files may import besides the part itself. `contract` is the contract.ts of any
 * part. Tests may import anything.
 */
const parts: [part: string, allowed: readonly string[]][] = [
  ["lib", []],
  ["data", []],
  ["apimachinery", ["lib", "data"]],
  ["cel-environment", ["apimachinery", "lib"]],
  ["storage", ["apimachinery", "lib"]],
  ["watch-cache", ["apimachinery", "lib", "contract"]],
  ["catalog", ["apimachinery", "lib", "data", "watch-cache", "contract"]],
  ["openapi", ["apimachinery", "lib", "data", "catalog", "contract"]],
  ["registry", ["apimachinery", "lib", "catalog", "watch-cache", "contract"]],
  ["authentication", ["apimachinery", "lib", "cel-environment", "webhook", "contract"]],
  ["authorization", ["apimachinery", "lib", "watch-cache", "cel-environment", "webhook", "contract"]],
  ["apis", ["apimachinery", "lib", "catalog", "registry", "webhook", "contract"]],
  ["quota", ["apimachinery", "lib", "apis", "contract"]],
  [
    "admission",
    [
      "apimachinery",
      "lib",
      "apis",
      "authorization",
      "catalog",
      "cel-environment",
      "quota",
      "registry",
      "webhook",
      "contract",
    ],
  ],
  ["controllers", ["apimachinery", "lib", "catalog", "quota", "registry", "watch-cache", "webhook", "contract"]],
  ["bootstrap", ["apimachinery", "lib", "registry", "watch-cache", "authorization", "contract"]],
  [
    "flow-control",
    [
      "apimachinery",
      "lib",
      "apis",
      "bootstrap",
      "catalog",
      "controllers",
      "http",
      "registry",
      "watch-cache",
      "contract",
    ],
  ],
  ["health", ["apimachinery", "lib", "http", "contract"]],
  ["metrics", ["apimachinery", "lib", "http", "apis", "contract"]],
  ["audit", ["apimachinery", "lib", "http", "webhook", "contract"]],
  ["webhook", ["apimachinery", "lib"]],
  ["proxy", ["apimachinery", "lib", "http", "registry", "webhook", "contract"]],
  ["kubelet", ["apimachinery", "lib", "apis", "http", "proxy", "registry", "serving", "webhook", "contract"]],
  ["aggregator", ["apimachinery", "lib", "catalog", "http", "openapi", "proxy", "watch-cache", "webhook", "contract"]],
  ["http", ["apimachinery", "lib", "catalog", "openapi", "registry", "watch-cache", "contract"]],
  ["serving", ["apimachinery", "lib", "authentication", "http", "options.ts", "contract"]],
  ["server", ["*", "options.ts"]],
  ["cli", ["*", "index.ts", "options.ts", "testing"]],
  ["testing", ["*", "index.ts", "options.ts", "public-types.ts", "server.ts"]],
  ["index.ts", ["*", "options.ts", "public-types.ts", "server.ts"]],
  ["options.ts", ["*"]],
  ["public-types.ts", ["*", "options.ts"]],
  ["server.ts", ["*", "server", "options.ts"]],
  ["main.ts", ["cli"]],
  ["check-runtime.ts", []],
];
/** They put other parts together: only these may import them. */
const composing = ["server", "cli", "testing", "index.ts", "options.ts", "public-types.ts", "server.ts", "main.ts"];

/** Folders at the root, and which of the others their files may import besides src/. */
const folders: [folder: string, allowed: readonly string[]][] = [
  ["src", []],
  ["test/support", []],
  ["test/e2e", ["test/support"]],
  ["bench", ["test/support"]],
  ["tools", ["test/support", "test/e2e"]],
];

const isTest = (file: string): boolean => /\.(?:test|suite)\.ts$/.test(file);
const allFiles = globSync("{src,test,bench,tools}/**/*.ts", { cwd: root });
const files = globSync("**/*.ts", { cwd: join(root, "src") }).filter((file) => !isTest(file));

/** Imports of a file, as paths from the root of the repository. */
function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), "utf8");
  return [...text.matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, path]) =>
    relative(root, join(root, dirname(file), path as string)),
  );
}

/** The part of a path from src/: its folder, or the file itself. */
function partOf(path: string): string {
  return path.split("/")[0] as string;
}

for (const [part, allowed] of parts) {
  test(`${part} imports only ${allowed.length === 0 ? "itself" : allowed.join(", ")}`, () => {
    const wrong = files
      .filter((file) => partOf(file) === part)
      .flatMap((file) => importsOf(`src/${file}`).map((imported) => ({ file, imported })))
      .filter(({ imported }) => {
        if (!imported.startsWith("src/")) return false;
        const target = partOf(imported.slice("src/".length));
        if (target === part || allowed.includes(target)) return false;
        if (allowed.includes("*") && !composing.includes(target)) return false;
        return !(allowed.includes("contract") && imported.endsWith("/contract.ts"));
      });
    assert.deepEqual(wrong, []);
  });
}

test("every part is in the table", () => {
  assert.deepEqual([...new Set(files.map(partOf))].sort(), parts.map(([part]) => part).sort());
});

const folderOf = (path: string): string | undefined => folders.find(([folder]) => path.startsWith(`${folder}/`))?.[0];

for (const [folder, allowed] of folders) {
  test(`${folder}/ imports only itself, src/${allowed.map((other) => `, ${other}/`).join("")}`, () => {
    const wrong = allFiles
      .filter((file) => folderOf(file) === folder && !(folder === "src" && isTest(file)))
      .flatMap((file) => importsOf(file).map((imported) => ({ file, imported, target: folderOf(imported) })))
      .filter(
        ({ target }) => target !== undefined && target !== folder && target !== "src" && !allowed.includes(target),
      );
    assert.deepEqual(wrong, []);
  });
}

test("one file writes to the store", () => {
  const writing = files.filter(
    (file) => !file.startsWith("storage/") && /\bstorage\.commit\(/.test(readFileSync(join(root, "src", file), "utf8")),
  );
  assert.deepEqual(writing, ["registry/commit.ts"]);
});

/** What only some servers need, and packages that are large. `node:http` loads Node's fetch when it is imported. */
const loadedOnDemand = [
  "lib/cel/",
  "lib/pod-security/checks/",
  "cel-environment/",
  "authentication/oidc/",
  "storage/lmdb/",
  "storage/etcd/api/",
  "storage/etcd/etcd-storage.ts",
  "re2js",
  "jose",
  "lmdb",
  "ws",
  "undici",
  "@grpc/grpc-js",
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
  const text = readFileSync(join(root, "src", file), "utf8");
  const names = [...text.matchAll(/^(?:import|export) (?!type )(?:[^;"]* from )?"([^"]+)";/gm)].map(
    ([, name]) => name as string,
  );
  return names.map((name) => (name.startsWith(".") ? join(dirname(file), name) : name));
}

test("the command `store` loads nothing of the server but its storage", () => {
  const loaded = new Set(["cli/store/command.ts"]);
  for (const file of loaded) for (const imported of loadedBy(file)) if (imported.endsWith(".ts")) loaded.add(imported);
  assert.deepEqual(
    [...loaded],
    [
      "cli/store/command.ts",
      "cli/exit-codes.ts",
      "cli/subcommands.ts",
      "cli/store/contract.ts",
      "cli/colors.ts",
      "cli/help-text.ts",
    ],
    "each of its commands is loaded when it is run",
  );
  // The kinds are loaded when an object is decoded.
  const all = new Set(files.filter((file) => /^cli\/store\/(?!objects\/)/.test(file)));
  for (const file of all) for (const imported of loadedBy(file)) if (imported.endsWith(".ts")) all.add(imported);
  const others = [...all].filter(
    (file) =>
      !/^(?:cli\/store\/|cli\/(?:colors|exit-codes|help-text|subcommands|printable)\.ts|storage\/|apimachinery\/|lib\/)/.test(
        file,
      ),
  );
  assert.deepEqual(others, []);
});
