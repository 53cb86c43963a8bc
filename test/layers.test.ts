/** The layers of src/ and their imports. The table of docs/architecture.md, "Source tree", is the rule. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "..");
const layersMax = 15;
const pairsMax = 150;

interface Part {
  readonly layer: number;
  /** A folder of src/, or a file in it. */
  readonly name: string;
  readonly imports: readonly string[];
}

const page = readFileSync(join(root, "docs/architecture.md"), "utf8");
const [, table = ""] = page.split("<!-- layers -->");
const parts: readonly Part[] = [...table.matchAll(/^\| (\d+) \| `([^`/]+)\/?` \| [^|]+ \| [^|]+ \|([^|]*)\|$/gm)].map(
  ([, layer, name = "", imports = ""]) => ({
    layer: Number(layer),
    name,
    imports: imports.split(",").flatMap((one) => one.trim() || []),
  }),
);

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

/** The parts that the files of a part import. */
function importedParts(part: string): string[] {
  const imported = files
    .filter((file) => partOf(file) === part)
    .flatMap((file) => importsOf(`src/${file}`))
    .filter((path) => path.startsWith("src/"))
    .map((path) => partOf(path.slice("src/".length)));
  return [...new Set(imported)].filter((one) => one !== part).sort();
}

for (const { name, layer, imports } of parts) {
  test(`${name} imports what its row says`, () => {
    assert.deepEqual(importedParts(name), [...imports].sort());
  });
  test(`${name} imports lower layers only`, () => {
    const layerOf = (other: string): number => parts.find((one) => one.name === other)?.layer ?? Number.NaN;
    assert.deepEqual(
      imports.filter((other) => !(layerOf(other) < layer)),
      [],
    );
  });
}

test("every part is in the table", () => {
  assert.deepEqual([...new Set(files.map(partOf))].sort(), parts.map(({ name }) => name).sort());
});

test(`at most ${layersMax} layers and ${pairsMax} pairs of parts`, () => {
  assert.ok(new Set(parts.map(({ layer }) => layer)).size <= layersMax);
  const pairs = parts.flatMap(({ imports }) => imports).length;
  assert.ok(pairs <= pairsMax, `${pairs} pairs`);
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

/** The calls themselves, and the removal of a definition's objects, for which upstream's server sends no requests. */
const unaudited = ["controllers/audited-writes.ts", "controllers/crd/custom-objects.ts"];

test("controllers write by the verbs that are audited", () => {
  const direct = files.filter(
    (file) =>
      file.startsWith("controllers/") &&
      /^import (?!type )\{ (?!type )[^}]*\} from "[^"]*registry\/(?:create|update|apply|delete|delete-collection)\.ts";/m.test(
        readFileSync(join(root, "src", file), "utf8"),
      ),
  );
  assert.deepEqual(
    direct.filter((file) => !unaudited.includes(file)),
    [],
  );
});

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
  "authentication/external-signer/",
  "storage/lmdb/",
  "storage/etcd/api/",
  "storage/etcd/etcd-storage.ts",
  "storage/encryption/kms/",
  "storage/encryption/open-encryption.ts",
  "re2js",
  "jose",
  "lmdb",
  "ws",
  "undici",
  "@grpc/grpc-js",
  "@peculiar/",
  "@noble/",
  "node:http",
];

test("a start loads nothing that it may not need", () => {
  const loaded = new Set(["server/server.ts"]);
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
      "cli/flags/contract.ts",
      "cli/help-text.ts",
      "cli/output.ts",
      "cli/preset-words.ts",
    ],
    "each of its commands is loaded when it is run",
  );
  // The kinds are loaded when an object is decoded, and the names of resources for their encryption.
  const all = new Set(files.filter((file) => /^cli\/store\/(?!objects\/|encryption\/)/.test(file)));
  for (const file of all) for (const imported of loadedBy(file)) if (imported.endsWith(".ts")) all.add(imported);
  const others = [...all].filter(
    (file) =>
      !/^(?:cli\/store\/|cli\/(?:colors|exit-codes|flags\/contract|help-text|output|preset-words|subcommands)\.ts|storage\/|apimachinery\/|lib\/)/.test(
        file,
      ),
  );
  assert.deepEqual(others, []);
});
