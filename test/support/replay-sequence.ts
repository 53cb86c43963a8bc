/** Replays sequences of writes on a memory registry and compares the answers with upstream's. */
import assert from "node:assert/strict";
import type { KubeObject } from "../../src/apimachinery/object.ts";
import { customDefinition } from "../../src/apis/apiextensions/custom-definition.ts";
import type { MutableCatalog, ResourceDefinition } from "../../src/catalog/contract.ts";
import type { RegistryContext } from "../../src/registry/contract.ts";
import { send } from "./api-client.ts";
import { manualClock } from "./manual-clock.ts";
import { openMemoryRegistry } from "./memory-registry.ts";
import { Disguise, inOrder, type SequenceStep, type WriteSequence } from "./write-sequence.ts";

interface SequenceReplay {
  /** @throws AssertionError at the first different answer */
  replay(sequence: WriteSequence): Promise<void>;
  close(): Promise<void>;
}

/** @param definitions the custom resources of the sequences, as they are stored */
export async function openSequenceReplay(definitions: readonly KubeObject[]): Promise<SequenceReplay> {
  const clock = manualClock(Date.parse("2026-01-01T00:00:00Z"));
  const { registry, close } = await openMemoryRegistry({ clock, services: { ranges: "10.0.0.0/24" } });
  const catalog = registry.catalog as MutableCatalog;
  for (const definition of definitions)
    catalog.add(customDefinition(definition, { objectRules: undefined }) as ResourceDefinition);
  await send(registry, "POST /api/v1/namespaces", { metadata: { name: "n" } });
  for (let at = 0; at < 10; at++) await send(registry, "POST /api/v1/namespaces", { metadata: { generateName: "n" } }); // Resource versions have two digits from here on.
  return {
    close,
    async replay({ kind, seed, path, steps }) {
      clock.advance(100_000);
      const start = clock.now();
      const disguise = new Disguise(`${kind.toLowerCase()}-${seed}`, start);
      for (const [index, step] of steps.entries()) {
        clock.advance(start + step.at * 1000 - clock.now());
        await check(registry, disguise, path, step, index);
      }
    },
  };
}

async function check(
  registry: RegistryContext,
  disguise: Disguise,
  path: string,
  step: SequenceStep,
  index: number,
): Promise<void> {
  const { line, body } = disguise.fill({ line: step.line, body: step.body }) as SequenceStep;
  const where = `step ${index}: ${line} ${JSON.stringify(body)}`;
  const answer = await send(registry, line, body, headersOf(step));
  assert.deepEqual(
    { status: answer.status, warnings: answer.warnings, answer: inOrder(disguise.hide(answer.body)) },
    { status: step.status, warnings: step.warnings ?? "", answer: step.answer },
    where,
  );
  if (step.after !== undefined) assert.deepEqual(await present(registry, disguise, path), step.after, where);
}

function headersOf({ type, agent }: SequenceStep): Record<string, string> {
  return { ...(type !== undefined && { "content-type": type }), ...(agent !== undefined && { "user-agent": agent }) };
}

async function present(registry: RegistryContext, disguise: Disguise, path: string): Promise<unknown> {
  const { status, body } = await send(registry, `GET ${disguise.fill(path)}`);
  return status === 200 ? disguise.hide(body) : null;
}
