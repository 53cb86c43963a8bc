/**
 * Recorded answers of a real 1.36 server: `COXSWAIN_ORACLE=DIR npm run test:full` sends the
 * requests of DIR/*.jsonl with DIR/replay.py and compares the answers. oracle-skipped.ts lists the
 * steps whose answers differ on purpose. The test fails when another step differs, and when a
 * listed step does not.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { reasonOf } from "../support/needs.ts";
import { peerLatency } from "../support/peer-latency.ts";
import { type RawClient, rawClient } from "../support/raw-client.ts";
import { startTestServer, type TestServer } from "../support/start-test-server.ts";
import { skippedSteps } from "./oracle-skipped.ts";

const directory = process.env.COXSWAIN_ORACLE;

describe("recorded answers of a real 1.36 server", {
  skip: directory === undefined && reasonOf("recorded answers", "COXSWAIN_ORACLE=DIRECTORY"),
}, () => {
  let server: TestServer;
  let client: RawClient;
  before(async () => {
    server = await startTestServer({ controllers: ["namespace-controller"] }); // The recorded server does not collect garbage.
    client = rawClient(server.kubeconfig);
    await passRevision(client, 100);
  });
  after(async () => {
    client.close();
    await server.close();
  });

  test("equal this server's answers, except for the skipped steps", async () => {
    const writing = new AbortController();
    const writer = keepWriting(client, writing.signal);
    const failures = await replay(server, directory as string);
    writing.abort();
    await writer;
    const failed = new Map(failures.map(({ name, text }) => [name, text]));
    const named = Object.entries(skippedSteps).flatMap(([reason, steps]) =>
      steps.map((name) => [name, reason] as const),
    );
    for (const [name] of named) failed.delete(name);
    const names = new Set(failures.map(({ name }) => name));
    assert.deepEqual(
      {
        failing: [...failed.values()],
        passing: named.filter(([name]) => !names.has(name)).map(([name, reason]) => `${name} (${reason})`),
      },
      { failing: [], passing: [] },
    );
    const { text } = await client.send({ path: "/metrics" });
    assert.match(text, /^declarative_validation_mismatch_total 0$/m);
  });
});

interface Failure {
  /** `area/scenario/step`. */
  readonly name: string;
  /** The FAIL line and the differences. */
  readonly text: string;
}

const leases = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases";

/**
 * Makes the next revisions longer than two digits: the replayer does not recognize shorter ones in
 * messages.
 */
async function passRevision(client: RawClient, revision: number): Promise<void> {
  for (let at = 0; at <= revision; ) {
    const { body } = await client.send({ method: "POST", path: leases, body: { metadata: { generateName: "x" } } });
    at = Number(body.metadata.resourceVersion);
  }
  await client.send({ method: "DELETE", path: leases });
}

/**
 * Raises the revision between the steps, as leaders that renew their leases do in the recorded
 * cluster.
 */
async function keepWriting(client: RawClient, signal: AbortSignal): Promise<void> {
  await client.send({ method: "POST", path: leases, body: { metadata: { name: "leader" } } });
  const headers = { "content-type": "application/merge-patch+json" };
  for (let transitions = 1; !signal.aborted; transitions++) {
    const body = { spec: { leaseTransitions: transitions } };
    const { status, text } = await client.send({ method: "PATCH", path: `${leases}/leader`, headers, body });
    assert.equal(status, 200, text);
    await peerLatency(2);
  }
}

interface Step {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly until?: readonly [path: string, value: string];
}

interface Scenario {
  readonly area: string;
  readonly scenario: string;
  readonly steps: readonly Step[];
}

/** What a controller writes between a step and the next: the replay waits for it. */
const writtenAfter: Readonly<Record<string, Step["until"]>> = {
  "crd-life/establish/09-short-name": ["status.acceptedNames.shortNames[0]", "tg"],
};

/**
 * Delays a step that waits for a status: a moment after a deletion, the 404 is of the object, not
 * yet of its kind.
 */
function withPauses(scenario: Scenario): Scenario {
  const steps = scenario.steps.flatMap((step) => {
    const until = writtenAfter[`${scenario.area}/${scenario.scenario}/${step.id}`];
    const wait =
      until === undefined ? [] : [{ id: `${step.id}-written`, method: "GET", path: step.path, silent: true, until }];
    return [step.until?.[0] === "status" ? { wait: 0.5, ...step } : step, ...wait];
  });
  return { ...scenario, steps };
}

async function replay({ directory: work, kubeconfigPath }: TestServer, recorded: string): Promise<Failure[]> {
  const files = readdirSync(recorded).filter((file) => file.endsWith(".jsonl"));
  for (const file of files) {
    const scenarios = readFileSync(join(recorded, file), "utf8").split("\n").filter(Boolean);
    writeFileSync(
      join(work, file),
      scenarios.map((line) => `${JSON.stringify(withPauses(JSON.parse(line)))}\n`).join(""),
    );
  }
  const output = await run("python3", [join(recorded, "replay.py"), ...files.map((file) => join(work, file))], {
    ...process.env,
    KUBECONFIG: kubeconfigPath,
  });
  assert.match(output, /^oracle: \d+ passed, \d+ failed$/m);
  return output
    .split(/^(?=FAIL )/m)
    .filter((text) => text.startsWith("FAIL "))
    .map((text) => ({ name: text.split(" ")[1] as string, text }));
}

/** @returns the output of the command; its exit code is not 0 when a step failed */
function run(command: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { env, stdio: ["ignore", "pipe", "inherit"] });
    const pieces: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
    child.once("error", reject);
    child.once("close", () => resolve(Buffer.concat(pieces).toString()));
  });
}
