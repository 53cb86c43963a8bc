/** The bundles of the package: each export loads, and a bundled server answers. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import { main } from "../test/support/program.ts";

const script = (file: string): string => `
  const { startTestServer } = await import(${JSON.stringify(file)});
  const server = await startTestServer();
  const fork = await server.fork();
  console.log((await server.fetch("/readyz")).status, (await fork.fetch("/version")).status);
  await fork.close();
  await server.close();
`;

describe("the bundles", () => {
  const node = (...args: readonly string[]): string => execFileSync(process.execPath, args, { encoding: "utf8" });
  const run = (code: string): string => node("--input-type=module", "-e", code);
  const file = (name: string): string => pathToFileURL(join(dirname(main), name)).href;

  for (const name of ["index.js", "testing.js", "cel.js", "structured-merge.js"])
    test(`${name} loads`, () => assert.equal(run(`await import(${JSON.stringify(file(name))})`), ""));

  test("the test kit starts a server and a fork of it", () => {
    assert.equal(run(script(file("testing.js"))), "200 200\n");
  });

  test("the command prints its help", () => assert.match(node(main, "serve", "--help"), /--data-dir/));
});
