/** Restores servers in random programs, also while writes run. */
import assert from "node:assert/strict";
import { passTurns } from "../../../support/pass-turns.ts";
import { compare, type Member, newestRevision, startInformers, type Taken } from "./fleet.ts";
import { checkEvents, type Informer } from "./informer.ts";
import { kindAt, nameAt } from "./kinds.ts";
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
  await begin(member, revision, (key) => [taken.objects.get(key)]);
  checkRestored(model.objects, taken.objects, { before, revision });
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

/** Returns states of an object, in one of which it must be. */
type Candidates = (key: string) => (State | undefined)[];

/** @param revision watches from before it get 410 */
async function begin(member: Member, revision: number, candidates: Candidates): Promise<void> {
  const { model } = member;
  model.log = [];
  model.expiredBefore = revision;
  model.floor = await newestRevision(member);
  await startInformers(member, (informers) => new Map(informers.flatMap((informer) => foundBy(informer, candidates))));
}

/** @returns the objects of a kind by their keys, from the informer that lists all of them */
function foundBy({ objects, options: { kind, parity } }: Informer, candidates: Candidates): [string, State][] {
  if (parity !== undefined) return [];
  return Array.from(objects.values(), (item) => {
    const key = keyOf(kind, item.metadata.name);
    const state = candidates(key).find((one) => one?.text === textOf(item));
    assert.ok(state !== undefined, `${key}: ${textOf(item)}, which it should not be`);
    return [key, stateOf(item, state.value)];
  });
}

/**
 * Restores while writes run. Each is replaced by the restore, or made on the restored state, or fails; then it changes
 * nothing.
 */
export async function race(member: Member, taken: Taken, writes: readonly WriteStep[]): Promise<void> {
  const { server, connection, model } = member;
  await compare(member); // Afterwards it is unknown what watches may have received.
  const revision = await newestRevision(member);
  // The writes are sent in different turns, some of them after the restore has begun.
  const running = writes.map(async (step) => {
    await turns(step.value);
    const { status, body } = await connection.send(...requestOf(step, nameAt(step.name)));
    assert.ok([200, 201, 404, 409].includes(status), `${step.do}: ${status} ${JSON.stringify(body)}`);
    return { step, ok: status < 300, answer: body as Answered };
  });
  await turns(writes[0]?.value ?? 0);
  await server.restore(taken.snapshot);
  const answers = await Promise.all(running);
  for (const informer of member.informers) await informer.expired;
  const written = new Map<string, State>();
  for (const { step, ok, answer } of answers) {
    const key = keyOf(kindAt(step.kind), nameAt(step.name));
    if (ok && step.do !== "delete") written.set(key, stateOf(answer, step.value));
  }
  await begin(member, revision, (key) => [taken.objects.get(key), written.get(key)]);
  const deleted = new Set(
    answers.filter(({ step, ok }) => ok && step.do === "delete").map(({ step }) => keyOf(kindAt(0), nameAt(step.name))),
  );
  for (const key of new Set([...model.objects.keys(), ...taken.objects.keys()])) {
    const state = model.objects.get(key);
    if (state === undefined) assert.ok(deleted.has(key), `${key} is absent`);
    else
      assert.ok([taken.objects.get(key)?.text, written.get(key)?.text].includes(state.text), `${key}: ${state.text}`);
  }
}

async function turns(count: number): Promise<void> {
  await passTurns(count);
}
