/** Restores servers in random programs, also while writes run. */
import assert from "node:assert/strict";
import { compare, listed, type Member, newestRevision, startInformers, type Taken } from "./fleet.ts";
import { checkEvents } from "./informer.ts";
import { kindAt, kinds, nameAt } from "./kinds.ts";
import { type Answered, expectedEvents, keyOf, type Objects, type State, stateOf, textOf } from "./model.ts";
import type { WriteStep } from "./program.ts";
import { requestOf } from "./requests.ts";

/** Restores a snapshot. What is equal keeps its revision; all else gets new ones, and watches end with 410. */
export async function restore(member: Member, taken: Taken): Promise<void> {
  const { server, model } = member;
  const before = new Map(model.objects);
  const revision = await newestRevision(member);
  await server.restore(taken.snapshot);
  await expired(member);
  model.objects = await currentObjects(member, (key) => [taken.objects.get(key)]);
  checkRestored(model.objects, taken.objects, { before, revision });
  await begin(member, revision);
}

interface Replaced {
  readonly before: Objects;
  /** The newest before the restore. */
  readonly revision: number;
}

function checkRestored(now: Objects, taken: Objects, { before, revision }: Replaced): void {
  assert.deepEqual([...now.keys()].sort(), [...taken.keys()].sort());
  for (const [key, state] of now) {
    assert.equal(state.text, taken.get(key)?.text, key);
    const old = before.get(key);
    if (old?.text === state.text) assert.equal(state.revision, old.revision, `${key} is equal`);
    else assert.ok(state.revision > revision, `${key} at ${state.revision}, which is not after ${revision}`);
  }
}

/** Waits until all informers have ended with 410; they have received nothing but the first changes before the restore. */
async function expired({ informers, model }: Member): Promise<void> {
  for (const informer of informers) {
    await informer.expired;
    const { kind, parity } = informer.options;
    checkEvents(informer.events, expectedEvents(model.log, kind, parity), true);
  }
}

/** @param revision watches from before it get 410 */
async function begin(member: Member, revision: number): Promise<void> {
  const { model } = member;
  model.log = [];
  model.expiredBefore = revision;
  model.floor = await newestRevision(member);
  await startInformers(member);
}

/**
 * Restores while writes run. Each is replaced by the restore, or made on the restored state, or fails; then it changes
 * nothing.
 */
export async function race(member: Member, taken: Taken, writes: readonly WriteStep[]): Promise<void> {
  const { server, model } = member;
  await compare(member); // Afterwards it is unknown what watches may have received.
  const revision = await newestRevision(member);
  const running = writes.map(async (step) => {
    const response = await server.fetch(...requestOf(step, nameAt(step.name)));
    const text = await response.text();
    assert.ok([200, 201, 404, 409].includes(response.status), `${step.do}: ${response.status} ${text}`);
    return { step, ok: response.ok, answer: JSON.parse(text) as Answered };
  });
  // The writes have been sent, and arrive in different turns.
  for (let turns = 0; turns < (writes[0]?.value ?? 0); turns++) await new Promise(setImmediate);
  await server.restore(taken.snapshot);
  const answers = await Promise.all(running);
  for (const informer of member.informers) await informer.expired;
  const written = new Map<string, State>();
  for (const { step, ok, answer } of answers) {
    const key = keyOf(kindAt(step.kind), nameAt(step.name));
    if (ok && step.do !== "delete") written.set(key, stateOf(answer, step.value));
  }
  model.objects = await currentObjects(member, (key) => [taken.objects.get(key), written.get(key)]);
  const deleted = new Set(
    answers.filter(({ step, ok }) => ok && step.do === "delete").map(({ step }) => keyOf(kindAt(0), nameAt(step.name))),
  );
  for (const key of new Set([...model.objects.keys(), ...taken.objects.keys()])) {
    const state = model.objects.get(key);
    if (state === undefined) assert.ok(deleted.has(key), `${key} is absent`);
    else
      assert.ok([taken.objects.get(key)?.text, written.get(key)?.text].includes(state.text), `${key}: ${state.text}`);
  }
  await begin(member, revision);
}

/** @param candidates returns states of an object, one of which it must be in */
async function currentObjects(
  { server }: Member,
  candidates: (key: string) => (State | undefined)[],
): Promise<Map<string, State>> {
  const found = new Map<string, State>();
  for (const kind of kinds) {
    for (const item of (await listed(server, kind.path)).items) {
      const key = keyOf(kind, item.metadata.name);
      const state = candidates(key).find((one) => one?.text === textOf(item));
      assert.ok(state !== undefined, `${key}: ${textOf(item)}, which it should not be`);
      found.set(key, stateOf(item, state.value));
    }
  }
  return found;
}
