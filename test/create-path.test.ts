// own process: V8 counts the files that it runs
/** Holds docs/create-path.md to the files that a create runs, which V8 counts while a server serves one. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { join, relative } from "node:path";
import { before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startServer } from "../src/index.ts";
import { type Http2Client, http2Client } from "./support/http2-client.ts";
import { sourceTokens } from "./support/source-tokens.ts";

const root = join(import.meta.dirname, "..");
const filesMax = 15;
const linesMax = 2000;

/** What the page does not count, by the sections at its end. */
const aside: readonly RegExp[] = [
  // Filters: `http/listener/peer.ts` runs when the authentication filter checks the client certificate.
  /^src\/(?:http\/filters|metrics|authentication|authorization|flow-control|server\/serving)\//,
  /^src\/(?:http\/listener\/peer|request\/normalized-verb)\.ts$/,
  // What guards each request.
  /^src\/(?:http\/routes|request\/(?:boundary|carriable)|http\/listener\/(?:begin-in-turns|loop-watch)|server\/(?:http|loop-watch))\.ts$/,
  // Libraries.
  /^src\/(?:lib|apimachinery)\//,
  // Areas behind a contract.
  /^src\/(?:forwarding|catalog|admission|apis|storage|watch-cache|controllers)\//,
];

/** The numbered list. */
const listed = [
  ...readFileSync(join(root, "docs/create-path.md"), "utf8").matchAll(/^\d+\. \[`(src\/[^`]+)`\]\(\.\.\/\1\): \S/gm),
].map(([, file]) => file as string);

let executed: string[];

before(async () => {
  const server = await startServer({ storage: "memory", controllers: [] });
  const client = http2Client(server.kubeconfig);
  for (const name of ["first", "second"]) await create(client, name); // Loads and compiles what is used later.
  executed = await filesRunBy(() => create(client, "measured"));
  client.close();
  await server.close();
});

async function create(client: Http2Client, name: string): Promise<void> {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { key: "value" } };
  const { status } = await client.send("POST /api/v1/namespaces/default/configmaps", object);
  assert.equal(status, 201);
}

/** The files of src/ with a function that ran, the code at their top level aside. */
async function filesRunBy(run: () => Promise<void>): Promise<string[]> {
  const session = new Session();
  session.connect();
  await session.post("Profiler.enable");
  await session.post("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  await session.post("Profiler.takePreciseCoverage");
  await run();
  const { result } = await session.post("Profiler.takePreciseCoverage");
  session.disconnect();
  return result
    .filter(
      ({ url, functions }) => url.startsWith("file:") && functions.some(({ ranges }) => (ranges[0]?.count ?? 0) > 0),
    )
    .map(({ url }) => relative(root, fileURLToPath(url)).replaceAll("\\", "/"))
    .filter((file) => file.startsWith("src/"));
}

/** Lines with code. */
function linesOf(file: string): number {
  const lines = new Set<number>();
  for (const { type, text, line } of sourceTokens(readFileSync(join(root, file), "utf8"))) {
    if (type !== "comment") for (const [offset] of text.split("\n").entries()) lines.add(line + offset);
  }
  return lines.size;
}

test("the page lists the files that a create runs", () => {
  assert.deepEqual([...listed].sort(), executed.filter((file) => !aside.some((one) => one.test(file))).sort());
});

test("the files that the page sets aside run, too", () => {
  for (const one of aside)
    assert.ok(
      executed.some((file) => one.test(file)),
      String(one),
    );
});

test(`the page lists at most ${filesMax} files with ${linesMax} lines of code`, () => {
  assert.ok(listed.length <= filesMax, `${listed.length} files`);
  const lines = listed.reduce((sum, file) => sum + linesOf(file), 0);
  assert.ok(lines <= linesMax, `${lines} lines`);
});
