/** Runs random programs against servers, and compares these with their models. */
import assert from "node:assert/strict";
import { loadSnapshot, type TestServer } from "../../../../src/testing/index.ts";
import {
  addMember,
  checkStatus,
  closeFleet,
  closeMember,
  compare,
  type Fleet,
  type Member,
  newestRevision,
  startFrom,
  takeSnapshot,
} from "./fleet.ts";
import { checkEvents, Informer } from "./informer.ts";
import { kindAt, nameAt, parityLabel, userOf } from "./kinds.ts";
import {
  type Answered,
  change,
  expectedEvents,
  expectedStatus,
  isPermitted,
  keyOf,
  type ServerModel,
  stateOf,
  textOf,
  versionToSend,
} from "./model.ts";
import type { Step, WriteStep } from "./program.ts";
import { requestOf } from "./requests.ts";
import { race, restore } from "./restore.ts";

type Of<Do extends Step["do"]> = Extract<Step, { readonly do: Do }>;

/** @param base a server with the definition of the custom kind; it is forked, and not changed */
export async function runProgram(
  steps: readonly Step[],
  base: TestServer,
  { file, wrap = (server) => server }: Pick<Fleet, "file"> & Partial<Pick<Fleet, "wrap">>,
): Promise<void> {
  const fleet: Fleet = { members: [], taken: [], file, wrap };
  try {
    const revision = Number((await base.snapshot()).resourceVersion);
    await addMember(fleet, await base.fork(), new Map(), revision);
    for (const [index, step] of steps.entries()) {
      await run(fleet, step).catch((error: unknown) => {
        throw new Error(`step ${index}, ${step.do}: ${(error as Error).message}`, { cause: error });
      });
    }
    for (const member of fleet.members) await compare(member);
  } finally {
    await closeFleet(fleet);
  }
}

async function run(fleet: Fleet, step: Step): Promise<void> {
  const memberOf = ({ on }: { readonly on: number }): Member => fleet.members[on % fleet.members.length] as Member;
  const takenOf = ({ snapshot }: { readonly snapshot: number }) => fleet.taken[snapshot % (fleet.taken.length || 1)];
  switch (step.do) {
    case "deleteCollection":
      return deleteCollection(memberOf(step), step);
    case "access":
      return checkAccess(memberOf(step));
    case "compare":
      return compare(memberOf(step));
    case "watchFrom":
      return watchFrom(memberOf(step), step);
    case "cut": {
      const { informers } = memberOf(step);
      return informers[step.informer % informers.length]?.cut();
    }
    case "snapshot":
      return takeSnapshot(fleet, memberOf(step));
    case "close":
      return closeMember(fleet, step.on % fleet.members.length);
    case "fork":
      return fork(fleet, memberOf(step));
    case "save":
    case "restore":
    case "race":
    case "load": {
      const taken = takenOf(step);
      if (taken === undefined) return;
      if (step.do === "restore") return restore(memberOf(step), taken);
      if (step.do === "race") return race(memberOf(step), taken, step.writes);
      if (step.do === "load") return startFrom(fleet, taken);
      await taken.snapshot.save(fleet.file);
      fleet.taken[fleet.taken.indexOf(taken)] = { ...taken, snapshot: await loadSnapshot(fleet.file) };
      return;
    }
    default:
      return write(memberOf(step), fleet.members[(step.on + 1) % fleet.members.length] as Member, step);
  }
}

async function fork(fleet: Fleet, origin: Member): Promise<void> {
  const revision = await newestRevision(origin);
  await addMember(fleet, await origin.server.fork(), origin.model.objects, revision);
}

/** Most writes of existing objects find one. */
function nameOf({ objects }: ServerModel, step: WriteStep): string {
  const prefix = `${kindAt(step.kind).name}/`;
  const existing = [...objects.keys()].filter((key) => key.startsWith(prefix));
  if (step.do === "create" || existing.length === 0 || step.value % 4 === 0) return nameAt(step.name);
  return (existing[step.name % existing.length] as string).slice(prefix.length);
}

async function write({ connection, model }: Member, other: Member, step: WriteStep): Promise<void> {
  const kind = kindAt(step.kind);
  const name = nameOf(model, step);
  const existing = model.objects.get(keyOf(kind, name));
  const sent = versionToSend(step, existing, other.model.objects.get(keyOf(kind, name)));
  const status = expectedStatus(step.do, kind, existing, sent);
  const what = `${step.do} ${kind.name}/${name} at ${sent} (${existing?.revision})`;
  const answer = checkStatus(await connection.send(...requestOf(step, name, sent)), status, what);
  if (status >= 400) return;
  if (step.do === "delete") return change(model, kind, name, undefined);
  const state = stateOf(answer, step.value);
  if (existing?.text === state.text) assert.equal(state.revision, existing.revision, what);
  else assert.ok(state.revision > model.newest, `${what}: ${state.revision} after ${model.newest}`);
  model.newest = Math.max(model.newest, state.revision);
  change(model, kind, name, state);
}

async function deleteCollection({ connection, model }: Member, step: Of<"deleteCollection">): Promise<void> {
  const kind = kindAt(step.kind);
  const selector = step.parity === 2 ? "" : `?labelSelector=${parityLabel}%3D${step.parity}`;
  const { status, body } = await connection.send(`DELETE ${kind.path}${selector}`);
  assert.equal(status, 200);
  const items: Answered[] = body.items;
  const selected = [...model.objects]
    .filter(([key, { value }]) => key.startsWith(`${kind.name}/`) && (step.parity === 2 || value % 2 === step.parity))
    .sort(([a], [b]) => (a < b ? -1 : 1));
  assert.deepEqual(
    items.map(textOf),
    selected.map(([, { text }]) => text),
  );
  for (const item of items) change(model, kind, item.metadata.name, undefined);
}

async function checkAccess({ connection, model }: Member): Promise<void> {
  for (const user of [0, 1, 2].map(userOf)) {
    for (const [verb, path] of [
      ["get", `${kindAt(0).path}/a`],
      ["list", kindAt(0).path],
    ] as const) {
      const { status } = await connection.send(`GET ${path}`, { headers: { "impersonate-user": user } });
      assert.equal(status !== 403, isPermitted(model, user, verb), `${user} may ${verb}: ${status}`);
    }
  }
}

async function watchFrom(member: Member, step: Of<"watchFrom">): Promise<void> {
  const { connection, model } = member;
  const kind = kindAt(step.kind);
  // From a change whose revision is known, or from the beginning of the log.
  const starts = [-1, ...model.log.flatMap(({ after }, index) => (after === undefined ? [] : [index]))];
  const at = starts[step.back % starts.length] as number;
  const from = model.log[at]?.after?.revision ?? model.floor;
  const expected = expectedEvents(model.log.slice(at + 1), kind, undefined);
  const watching = new Informer(connection, { kind });
  await watching.startFrom(from);
  await watching.received(expected.length);
  watching.stop();
  checkEvents(watching.events, expected, false);
  const early = new Informer(connection, { kind });
  await early.startFrom(model.expiredBefore - 1);
  await early.expired;
  assert.deepEqual(early.events, []);
}
