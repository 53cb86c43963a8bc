/**
 * Random programs of snapshots, restores, forks, writes and watches against test servers agree with a plain model.
 * Guarantees:
 * - a restore gives a server the objects of the snapshot; what is equal keeps its revision, and revisions never go back;
 * - a watch delivers exactly the changes after its revision, in order, until a restore ends it with 410; the list after
 *   it is the model;
 * - servers do not see each other's writes: forks, forks of forks, servers of saved snapshots, also when their origins
 *   are closed;
 * - permissions follow the restored Roles and RoleBindings;
 * - a write that runs during a restore is replaced by it, made on the restored state, or fails.
 *
 * A failing program is printed in its shortest form. COXSWAIN_TEST_FULL=1: thousands of programs.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { startTestServer, type TestServer } from "../../../src/testing/index.ts";
import { seed } from "../../support/seed.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { until } from "../../support/until.ts";
import { fleetOptions } from "./programs/fleet.ts";
import { kindAt, widgetDefinition } from "./programs/kinds.ts";
import { formatProgram, randomProgram, type Step, shortest } from "./programs/program.ts";
import { runProgram } from "./programs/run-program.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const programs = isFull ? 2000 : 2;
const length = 80;

const directory = mkdtempSync(join(tmpdir(), "coxswain-programs-"));
const file = join(directory, "program.snapshot");
let base: TestServer;
before(async () => {
  base = await startTestServer(fleetOptions);
  const definitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
  const { status } = await base.fetch(definitions, { method: "POST", body: widgetDefinition });
  assert.equal(status, 201);
  await until(async () => (await base.fetch(kindAt(1).path)).status === 200);
});
after(async () => {
  await base.close();
  rmSync(directory, { recursive: true, force: true });
});

/** @throws Error with the shortest failing program */
async function check(one: number, wrap?: (server: TestServer) => TestServer): Promise<void> {
  const run = (steps: readonly Step[]): Promise<void> => runProgram(steps, base, { file, ...(wrap && { wrap }) });
  const program = randomProgram(seededRandom(one), length);
  try {
    await run(program);
  } catch {
    const fails = (steps: Step[]): Promise<boolean> =>
      run(steps).then(
        () => false,
        () => true,
      );
    const shortened = await shortest(program, fails);
    const cause: unknown = await run(shortened).catch((error: unknown) => error);
    throw new Error(`SEED=${one} fails: ${cause}\n${formatProgram(shortened)}`, { cause });
  }
}

test(`${programs} random programs agree with a model (SEED=${seed})`, async () => {
  for (let index = 0; index < programs; index++) await check(seed + index);
});

test("the test of random programs notices a restore that loses an object, and shortens the program", {
  skip: !isFull && "needs COXSWAIN_TEST_FULL=1",
}, async () => {
  const loses = (server: TestServer): TestServer => ({
    ...server,
    async restore(snapshot) {
      await server.restore(snapshot);
      const { items } = await (await server.fetch(kindAt(0).path)).json();
      const name = items[0]?.metadata.name;
      if (name !== undefined) await server.fetch(`${kindAt(0).path}/${name}`, { method: "DELETE" });
    },
  });
  const { message } = (await check(1, loses).catch((error: unknown) => error)) as Error;
  assert.match(message, /^SEED=1 fails: Error: step 2, restore:/);
  assert.match(
    message,
    /\n {2}0: \{"do":"create"[^\n]*\n {2}1: \{"do":"snapshot"[^\n]*\n {2}2: \{"do":"restore"[^\n]*$/,
  );
});
