/** The servers and snapshots of a running program, each with its model. */
import assert from "node:assert/strict";
import { type Snapshot, startTestServer, type TestServer } from "../../../../src/testing/index.ts";
import type { Http2Answer } from "../../../support/http2-client.ts";
import { type Http2Connection, http2Watches } from "../../../support/watch-connection.ts";
import { checkEvents, Informer, type InformerOptions } from "./informer.ts";
import { kindAt, kinds } from "./kinds.ts";
import { type Answered, expectedEvents, lineOf, newModel, type Objects, objectsOf, type ServerModel } from "./model.ts";
import { listed } from "./requests.ts";

/** A server, its model and its informers. */
export interface Member {
  readonly server: TestServer;
  readonly model: ServerModel;
  readonly connection: Http2Connection;
  readonly informers: readonly Informer[];
}

/** A snapshot, and the objects that must be in it. */
export interface Taken {
  readonly snapshot: Snapshot;
  readonly objects: Objects;
  readonly revision: number;
}

/** What a program has opened. */
export interface Fleet {
  readonly members: Member[];
  readonly taken: Taken[];
  /** Where snapshots are saved. */
  readonly file: string;
  /** Called for each new server; a test of the test returns a broken one. */
  readonly wrap: (server: TestServer) => TestServer;
}

const membersMax = 4;
const takenMax = 6;

const informers: readonly InformerOptions[] = [
  ...kinds.map((kind) => ({ kind })),
  { kind: kindAt(0), parity: 0, watchesInitialEvents: true },
  { kind: kindAt(1), parity: 1 },
];

/** Adds a server that must have these objects. The oldest is closed when there are too many, also when others are its forks. */
export async function addMember(fleet: Fleet, opened: TestServer, objects: Objects, revision: number): Promise<void> {
  const server = fleet.wrap(opened);
  const connection = http2Watches(server.kubeconfig);
  const model = newModel(objects, revision);
  const member: Member = {
    server,
    model,
    connection,
    informers: informers.map((options) => new Informer(connection, options)),
  };
  fleet.members.push(member);
  model.floor = await newestRevision(member);
  await startInformers(member);
  if (fleet.members.length > membersMax) await closeMember(fleet, 0);
}

/** Closes a server, unless it is the last. */
export async function closeMember(fleet: Fleet, index: number): Promise<void> {
  if (fleet.members.length === 1) return;
  const [member] = fleet.members.splice(index, 1);
  await end(member as Member);
}

/** Closes all servers. */
export async function closeFleet(fleet: Fleet): Promise<void> {
  for (const member of fleet.members.splice(0)) await end(member);
}

async function end({ informers, connection, server }: Member): Promise<void> {
  for (const informer of informers) informer.stop();
  connection.break();
  await server.close();
}

/** Takes a snapshot, and drops the oldest when there are too many. */
export async function takeSnapshot(fleet: Fleet, { server, model }: Member): Promise<void> {
  const snapshot = await server.snapshot();
  const revision = Number(snapshot.resourceVersion);
  assert.ok(revision >= model.newest, `a snapshot of ${revision} after ${model.newest}`);
  fleet.taken.push({ snapshot, objects: new Map(model.objects), revision });
  if (fleet.taken.length > takenMax) fleet.taken.shift();
}

/** Starts a server of a snapshot. */
export async function startFrom(fleet: Fleet, { snapshot, objects, revision }: Taken): Promise<void> {
  await addMember(fleet, await startTestServer({ ...fleetOptions, snapshot }), objects, revision);
}

/** The options of all servers of a fleet. The controller that is off writes ConfigMaps. */
export const fleetOptions = { controllers: ["*", "-root-ca-certificate-publisher-controller"] };

/** Starts the informers, whose lists must be the model; after a restore, they become the model. */
export async function startInformers(
  { informers, model }: Member,
  restored?: (informers: readonly Informer[]) => Objects,
): Promise<void> {
  await Promise.all(informers.map((informer) => informer.start()));
  if (restored) model.objects = new Map(restored(informers));
  for (const informer of informers) checkObjects(informer, model);
}

function checkObjects({ objects, options: { kind, parity } }: Informer, model: ServerModel): void {
  assert.deepEqual(Array.from(objects.values(), lineOf).sort(), objectsOf(model.objects, kind, parity));
}

/** Compares the server with its model: lists, and what informers have received. */
export async function compare({ server, connection, model, informers }: Member): Promise<void> {
  for (const kind of kinds) {
    const { items, metadata } = await listed(connection, kind.path);
    assert.deepEqual(items.map(lineOf), objectsOf(model.objects, kind), `${kind.name} of ${server.url}`);
    assert.ok(Number(metadata.resourceVersion) >= model.newest);
  }
  for (const informer of informers) {
    const { kind, parity } = informer.options;
    const expected = expectedEvents(model.log, kind, parity);
    await informer.received(expected.length);
    checkEvents(informer.events, expected, false);
    checkObjects(informer, model);
  }
}

/** @returns the newest revision of the server, which its model then knows */
export async function newestRevision({ server, model }: Member): Promise<number> {
  model.newest = Number((await server.snapshot()).resourceVersion);
  return model.newest;
}

/** @throws AssertionError with the answer unless it has one of these statuses */
export function checkStatus({ status, body }: Http2Answer, expected: number, what: string): Answered {
  assert.equal(status, expected, `${what}: ${status}, not ${expected}: ${JSON.stringify(body).slice(0, 500)}`);
  return body;
}
