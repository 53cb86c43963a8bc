/**
 * Random writers of a server with random faults, against a model. Guarantees:
 *
 * - a write that was answered with success is in the store;
 * - a write that failed by a fault before the commit is not in the store;
 * - a write whose success a fault replaced, or did not send, is in the store.
 *
 * `SEED=n` replays a run.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Fault, startTestServer } from "../../src/testing/index.ts";
import { rawClient } from "../support/raw-client.ts";
import { seed } from "../support/seed.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { quietControllers } from "../support/start-test-server.ts";

const isFull = process.env.COXSWAIN_TEST_FULL === "1";
const path = "/api/v1/namespaces/default/configmaps";

/** The status of a request that got no answer. */
const lost = 600;

const faults: Fault[] = [
  { type: "conflict" },
  { type: "tooManyRequests" },
  { type: "internalError" },
  { type: "timeoutBeforeCommit" },
  { type: "timeoutAfterCommit" },
  { type: "cutConnection", when: "before" },
  { type: "cutConnection", when: "after" },
  { type: "latency", ms: 2 },
];

test(`random faults lose no acknowledged write and show no rejected one (SEED=${seed})`, async () => {
  const server = await startTestServer({ controllers: quietControllers });
  /** Whether a request that was not answered with success has written all the same. */
  const wroteAnyway = (userAgent: string): boolean => {
    const entry = server.timeline.entries().find((one) => one.kind === "request" && one.userAgent === userAgent);
    const id = entry?.kind === "request" ? entry.fault?.split(" ")[0] : undefined;
    const fault = server.faults.list().find((one) => one.id === id)?.fault;
    return fault?.type === "timeoutAfterCommit" || (fault?.type === "cutConnection" && fault.when === "after");
  };
  /** @returns what it did until the first difference; nothing without one */
  const writer = async (name: string, operations: number): Promise<string[]> => {
    const client = rawClient(server.kubeconfig);
    const random = seededRandom(seed + Number(name.slice(2)));
    // Rules of its own, so that the decisions do not depend on other writers.
    for (const fault of faults)
      for (const verb of fault.type === "conflict" ? ["update", "delete"] : ["create", "update", "delete"])
        server.faults.add({ verb, userAgent: `${name}/*`, probability: 0.08, seed: random(2 ** 31) }, fault);
    /** Undefined when the object does not exist. */
    let expected: string | undefined;
    const steps: string[] = [];
    for (let at = 0; at < operations; at++) {
      const method = ["POST", "PUT", "PUT", "DELETE"][random(4)] as string;
      const next = method === "DELETE" ? undefined : String(at);
      const body = next === undefined ? {} : { body: { metadata: { name }, data: { value: next } } };
      const headers = { "user-agent": `${name}/${at}`, "content-type": "application/json" };
      const target = method === "POST" ? path : `${path}/${name}`;
      const status = await client.send({ method, path: target, headers, ...body }).then(
        (answer) => answer.status,
        () => lost,
      );
      const mayHaveWritten = status === lost || status === 504;
      if (status < 300 || (mayHaveWritten && wroteAnyway(headers["user-agent"]))) expected = next;
      const { status: found, body: read } = await client.send({ path: `${path}/${name}` });
      const stored = found === 404 ? undefined : read.data.value;
      steps.push(`${method} ${name} ${next}: ${status}; stored: ${stored}`);
      if (stored !== expected) return [...steps, `expected: ${expected}`];
    }
    client.close();
    return [];
  };
  const writers = Array.from({ length: 6 }, (_, at) => writer(`w-${at}`, isFull ? 400 : 40));
  try {
    for (const problems of await Promise.all(writers)) assert.deepEqual(problems, []);
    const applied = new Set(server.faults.list().map(({ hits, fault }) => hits > 0 && JSON.stringify(fault)));
    assert.ok(applied.size >= faults.length, `only some faults applied: ${[...applied]}`);
  } finally {
    await server.close();
  }
});
