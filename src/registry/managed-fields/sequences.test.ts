/**
 * Random sequences of writes of one object by several managers: apply, put and patches of the object, its status and its scale, managed fields
 * that clients write, several versions. What kube-apiserver 1.36 answered is replayed. Made by scripts/apply-sequences.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import type { KubeObject } from "../../api/object.ts";
import { customDefinition } from "../../apis/apiextensions/custom-definition.ts";
import { openServiceAddresses } from "../../apis/core/service-addresses.ts";
import { type IpRange, parseIpRange } from "../../lib/ip-range/ip-range.ts";
import type { MutableCatalog, ResourceDefinition } from "../../resource/contract.ts";
import { send } from "../../testing/api-client.ts";
import { type ManualClock, manualClock } from "../../testing/manual-clock.ts";
import { openMemoryRegistry } from "../../testing/memory-registry.ts";
import { Disguise, inOrder, type SequenceStep, type WriteSequence } from "../../testing/write-sequence.ts";
import type { RegistryContext } from "../contract.ts";

const lines = gunzipSync(readFileSync(new URL("testdata/sequences.jsonl.gz", import.meta.url))).toString();
const [definitions, ...sequences] = lines.split("\n").map((line) => JSON.parse(line)) as [KubeObject[], ...WriteSequence[]];

test(`${sequences.length} sequences are answered as upstream answers them`, async (t) => {
  const clock = manualClock(Date.parse("2026-01-01T00:00:00Z"));
  const { registry, close } = await openMemoryRegistry({
    clock,
    plugins: (catalog) => [openServiceAddresses({ catalog, clock, ranges: [parseIpRange("10.0.0.0/24") as IpRange], strict: true })],
  });
  const catalog = registry.catalog as MutableCatalog;
  for (const definition of definitions) catalog.add(customDefinition(definition, { objectRules: undefined }) as ResourceDefinition);
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
  for (let at = 0; at < 10; at++) await send(registry, "POST /api/v1/namespaces", { metadata: { generateName: "n" } }); // Versions have two digits then.
  for (const sequence of sequences) await t.test(`${sequence.kind} ${sequence.seed}`, () => replay(registry, clock, sequence));
  await close();
});

async function replay(registry: RegistryContext, clock: ManualClock, { kind, seed, path, steps }: WriteSequence): Promise<void> {
  clock.advance(100_000);
  const start = clock.now();
  const disguise = new Disguise(`${kind.toLowerCase()}-${seed}`, start);
  for (const [index, step] of steps.entries()) {
    clock.advance(start + step.at * 1000 - clock.now());
    const where = `step ${index}: ${JSON.stringify(disguise.fill({ line: step.line, body: step.body }))}`;
    const { line, body } = disguise.fill({ line: step.line, body: step.body }) as SequenceStep;
    const answer = await send(registry, line, body, headersOf(step));
    assert.deepEqual(
      { status: answer.status, warnings: answer.warnings, answer: inOrder(disguise.hide(answer.body)) },
      { status: step.status, warnings: step.warnings ?? "", answer: step.answer },
      where,
    );
    if (step.after !== undefined) assert.deepEqual(await present(registry, disguise, path), step.after, where);
  }
}

function headersOf({ type, agent }: SequenceStep): Record<string, string> {
  return { ...(type !== undefined && { "content-type": type }), ...(agent !== undefined && { "user-agent": agent }) };
}

async function present(registry: RegistryContext, disguise: Disguise, path: string): Promise<unknown> {
  const { status, body } = await send(registry, `GET ${disguise.fill(path)}`);
  return status === 200 ? disguise.hide(body) : null;
}
