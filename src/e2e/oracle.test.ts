/**
 * Answers of a real 1.36 server: `COXSWAIN_ORACLE=DIR npm run test:full` sends the requests of DIR/*.jsonl again by DIR/replay.py and wants the
 * recorded answers. Steps that cannot have them stand below with the reason; a step that has them all the same fails the test.
 */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { rawClient } from "../testing/raw-client.ts";
import { startTestServer, type TestServer } from "../testing/start-test-server.ts";

const directory = process.env.COXSWAIN_ORACLE;

const skipped: Readonly<Record<string, readonly (string | RegExp)[]>> = {
  "the recorded server keeps an annotation of its own on every object: it is there before any other, and the first update writes it": [
    /^apply\/life\/(?:02|05|07|08|09|10|11|13|15|16|17)-/,
    /^apply\/errors\/1[478]-/,
    "basics/configmap-life/07-no-change",
    "basics/configmap-life/15-get",
    "basics/configmap-immutable/06-patch",
    "basics/namespaces/08-name-label",
    /^basics\/namespaces\/(?:09|10|11|12|17)-/,
    "dryrun/verbs/08-apply",
    /^patch\/json\/(?:15|17|22)-/,
  ],
  "differences: an invalid combination of list options is 400, as the specification says, with 1.36's message": [
    "list/limit/17-token-and-match",
    /^list\/resource-version\/\d+-rv-\w+-Odd-\w+$/,
    /^list\/resource-version\/\d+-rv-unset-NotOlderThan-\w+$/,
    /^list\/resource-version\/\d+-rv-0-Exact-\w+$/,
    "watch/parameters/04-initial-no-match",
    "watch/parameters/05-match-only",
    "watch/parameters/09-match-exact",
    "watch/parameters/15-list-with-initial",
  ],
  "differences: verbose health output ends with `healthz check passed` everywhere, as the specification says": [
    "discovery/health/05-exclude",
    "discovery/health/07-exclude-unknown-verbose",
    "discovery/health/08-readyz-verbose",
  ],
  "a fresh server's history begins at revision 1; the recorded one had compacted it": [
    /^list\/resource-version\/\d+-rv-1-Exact-/,
    "watch/parameters/13-old-rv",
  ],
  "hangs on timing: one bookmark more": ["watch/parameters/17-initial-table"],
  "the recorded server counts a custom resource definition of its own": ["negotiation/table/22-create"],
  "the recorded server's storage keys, build paths and addresses": [
    "basics/configmap-life/08-wrong-uid",
    "discovery/documents/02-apis",
    "metadata/type-meta/04-unknown-kind",
    "metadata/type-meta/05-other-group",
    "metadata/type-meta/08-kind-lower",
  ],
  "kube-apiserver hashes storage keys that begin otherwise than the recorded server's": [
    /^discovery\/documents\/0[347]-(?:core|rbac|coordination)$/,
    "discovery/documents/05-apiextensions",
  ],
  "the recorded server answers any version of a group that it keeps elsewhere; kube-apiserver answers 404": ["basics/unknown-paths/09-apps"],
  "the recorded server does not aggregate; kube-apiserver does": ["discovery/documents/11-openapi-missing", "discovery/documents/13-aggregated-apis"],
  "descriptions come from the client package, which has them of types alone, not of the fields that refer to them": [
    "discovery/documents/10-openapi-core",
    "discovery/documents/17-openapi-operation",
    "discovery/documents/19-openapi-v2",
  ],
};

describe("answers of a real 1.36 server", { skip: directory === undefined && "COXSWAIN_ORACLE names no directory of recorded answers" }, () => {
  let server: TestServer;
  before(async () => {
    server = await startTestServer({ controllers: ["namespace-controller"] }); // The recorded server collects no garbage.
    await passRevision(server, 100);
  });
  after(() => server.close());

  test("are ours", async () => {
    const failures = await replay(server, directory as string);
    const matchers = Object.entries(skipped).flatMap(([reason, steps]) => steps.map((step) => ({ reason, step })));
    const isNamedBy = (step: string | RegExp, name: string): boolean => (typeof step === "string" ? step === name : step.test(name));
    const unexpected = failures.filter(({ name }) => !matchers.some(({ step }) => isNamedBy(step, name)));
    const passing = matchers.filter(({ step }) => !failures.some(({ name }) => isNamedBy(step, name)));
    assert.deepEqual(
      { unexpected: unexpected.map(({ text }) => text), passing: passing.map(({ reason, step }) => `${step} (${reason})`) },
      { unexpected: [], passing: [] },
    );
  });
});

interface Failure {
  /** `area/scenario/step`. */
  readonly name: string;
  /** With what differs. */
  readonly text: string;
}

/** The replayer finds versions in messages by their digits, and takes numbers of one or two digits for something else. */
async function passRevision({ kubeconfig }: TestServer, revision: number): Promise<void> {
  const client = rawClient(kubeconfig);
  const path = "/api/v1/namespaces/default/configmaps";
  for (let at = 0; at <= revision; ) {
    const { body } = await client.send({ method: "POST", path, body: { apiVersion: "v1", kind: "ConfigMap", metadata: { generateName: "x" } } });
    at = Number(body.metadata.resourceVersion);
  }
  await client.send({ method: "DELETE", path });
  client.close();
}

async function replay({ directory: work, kubeconfigPath }: TestServer, recorded: string): Promise<Failure[]> {
  const files = readdirSync(recorded).filter((file) => file.endsWith(".jsonl"));
  for (const file of files) {
    const scenarios = readFileSync(join(recorded, file), "utf8").split("\n").filter(Boolean);
    writeFileSync(join(work, file), scenarios.map((line) => `${line}\n`).join(""));
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

/** @returns what the command printed; the exit code tells only that some step failed */
function run(command: string, words: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, words, { env, stdio: ["ignore", "pipe", "inherit"] });
    const pieces: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => pieces.push(piece));
    child.once("error", reject);
    child.once("close", () => resolve(Buffer.concat(pieces).toString()));
  });
}
