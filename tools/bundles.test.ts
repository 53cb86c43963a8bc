/** The bundles of the package: each export loads, and a bundled server answers. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { after, before, describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { writeBundles } from "./bundles.ts";

const root = join(import.meta.dirname, "..");
const cache = join(root, "node_modules/.cache"); // Where the bundles find the packages that they import.

const script = (file: string): string => `
  const { startTestServer } = await import(${JSON.stringify(file)});
  const server = await startTestServer();
  const fork = await server.fork();
  console.log((await server.fetch("/readyz")).status, (await fork.fetch("/version")).status);
  await fork.close();
  await server.close();
`;

describe("the bundles", () => {
  let directory: string;
  const node = (...args: readonly string[]): string => execFileSync(process.execPath, args, { encoding: "utf8" });
  const run = (code: string): string => node("--input-type=module", "-e", code);
  const file = (name: string): string => pathToFileURL(join(directory, name)).href;

  before(async () => {
    mkdirSync(cache, { recursive: true });
    directory = mkdtempSync(join(cache, "bundles-"));
    await writeBundles(relative(root, directory));
  });
  after(() => rmSync(directory, { recursive: true }));

  for (const name of ["index.js", "testing.js", "cel.js", "structured-merge.js"])
    test(`${name} loads`, () => assert.equal(run(`await import(${JSON.stringify(file(name))})`), ""));

  test("the test kit starts a server and a fork of it", () => {
    assert.equal(run(script(file("testing.js"))), "200 200\n");
  });

  test("the command prints its help", () =>
    assert.match(node(join(directory, "main.js"), "serve", "--help"), /--data-dir/));
});
