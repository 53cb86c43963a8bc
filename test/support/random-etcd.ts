/**
 * A member of etcd that answers at random: what a member answers, with other revisions, keys and fields; errors of gRPC
 * and HTTP/2; bytes that are cut or damaged; late or never. It speaks HTTP/2 itself, because gRPC's server sends only
 * what gRPC allows.
 */
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { decodeMessage, encodeMessage, type Message } from "../../src/lib/grpc/codec.ts";
import type { WatchRequest } from "../../src/storage/etcd/api/messages.ts";
import * as messages from "../../src/storage/etcd/api/messages.ts";
import { type EtcdState, openEtcdState } from "./etcd-state.ts";
import type { seededRandom } from "./seeded-random.ts";

type Random = ReturnType<typeof seededRandom>;

export interface RandomEtcd {
  readonly url: string;
  /** The answers so far, those of watches included. */
  readonly answers: number;
  /** Of a hundred answers, so many are others than a member's; 0 at the start. */
  disturb(percent: number): void;
  /** Breaks all connections, and answers as a member does from then on. */
  restart(): void;
  close(): Promise<void>;
}

interface Method {
  readonly request: Message;
  readonly response: Message;
  answer(state: EtcdState, request: never): object;
}

const methods: Readonly<Record<string, Method>> = {
  "/etcdserverpb.KV/Range": {
    request: messages.rangeRequest,
    response: messages.rangeResponse,
    answer: (state, request) => state.range(request),
  },
  "/etcdserverpb.KV/Txn": {
    request: messages.txnRequest,
    response: messages.txnResponse,
    answer: (state, request) => state.txn(request),
  },
  "/etcdserverpb.KV/Compact": {
    request: messages.compactRequest,
    response: messages.compactResponse,
    answer: (state) => ({ header: state.header() }),
  },
  "/etcdserverpb.Lease/LeaseGrant": {
    request: messages.leaseGrantRequest,
    response: messages.leaseGrantResponse,
    answer: (state, { TTL }: { TTL: number }) => ({ header: state.header(), ID: 7, TTL }),
  },
  "/etcdserverpb.Lease/LeaseTimeToLive": {
    request: messages.leaseTimeRequest,
    response: messages.leaseTimeResponse,
    answer: (state) => ({ header: state.header(), ID: 7, TTL: 60, grantedTTL: 60 }),
  },
  "/etcdserverpb.Maintenance/Status": {
    request: messages.statusRequest,
    response: messages.statusResponse,
    answer: (state) => ({ header: state.header(), version: "3.6.8", dbSize: 1_000_000 }),
  },
};

/** What the parts of one member share. */
interface Member {
  readonly random: Random;
  readonly state: EtcdState;
  pick<T>(items: readonly T[]): T;
  /** Whether the next answer is not a member's. */
  isOdd(): boolean;
  answered(): void;
}

/** Starts a member on a free port. */
export async function startRandomEtcd(random: Random): Promise<RandomEtcd> {
  let percent = 0;
  let answers = 0;
  const member: Member = {
    random,
    state: openEtcdState(),
    pick: (items) => items[random(items.length)] as (typeof items)[number],
    isOdd: () => random(100) < percent,
    answered: () => void answers++,
  };
  const sessions = new Set<http2.ServerHttp2Session>();
  const server = http2.createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {}); // The client may break it, too.
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream: http2.ServerHttp2Stream, headers) => {
    stream.on("error", () => {}); // The client may cancel it.
    const path = String(headers[":path"]);
    if (path === "/etcdserverpb.Watch/Watch") serveWatches(member, stream);
    else serveCall(member, stream, methods[path] as Method);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get answers() {
      return answers;
    },
    disturb(share) {
      percent = share;
    },
    restart() {
      percent = 0;
      for (const session of sessions) session.destroy();
    },
    async close() {
      for (const session of sessions) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** A message of gRPC. */
function framed(bytes: Buffer, flag = 0): Buffer {
  const head = Buffer.alloc(5);
  head.writeUInt8(flag, 0);
  head.writeUInt32BE(bytes.length, 1);
  return Buffer.concat([head, bytes]);
}

const details = [
  "etcdserver: mvcc: required revision has been compacted",
  "etcdserver: mvcc: required revision is a future revision",
  "etcdserver: request is too large",
  "etcdserver: requested lease not found",
  "etcdserver: no leader",
  "etcdserver: permission denied",
  "etcdserver: mvcc: database space exceeded",
  "No connection established",
  "connect ECONNREFUSED 127.0.0.1:1",
  "",
  "%zz\u00ff",
];
const statuses = [...Array(17).keys(), 99, -1, "x", ""];

/** The head of an answer of gRPC. */
const head = { ":status": 200, "content-type": "application/grpc" };

function serveCall(member: Member, stream: http2.ServerHttp2Stream, method: Method): void {
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  stream.on("end", () => {
    const bytes = Buffer.concat(pieces).subarray(5);
    answerCall(member, stream, method, bytes);
  });
}

function answerCall(member: Member, stream: http2.ServerHttp2Stream, method: Method, request: Buffer): void {
  const answer = method.answer(member.state, decodeMessage(method.request, request) as never);
  member.answered();
  if (stream.closed || stream.destroyed) return;
  const { random, pick } = member;
  if (!member.isOdd()) return sendAnswer(stream, framed(encodeMessage(method.response, answer)));
  const odd = (): Buffer => oddMessage(member, method.response, answer);
  pick<() => void>([
    ...Array<() => void>(6).fill(() => sendAnswer(stream, odd())),
    () => failCall(member, stream),
    () => failCall(member, stream),
    () => sendAnswer(stream, Buffer.of()),
    () => sendAnswer(stream, Buffer.concat([odd(), odd()])),
    () => stream.respond({ ":status": pick([204, 404, 429, 503]), "content-type": "text/html" }, { endStream: true }),
    () => stream.respond({ ...head, "content-type": "text/plain" }),
    () => stream.close(random(14)),
    () => stream.session?.goaway(random(14)),
    () => stream.session?.destroy(),
    () => {}, // It never answers.
    () => void setTimeout(() => stream.destroyed || sendAnswer(stream, odd()), random(120_000)),
  ])();
}

/** @param body the messages, which need not be whole */
function sendAnswer(stream: http2.ServerHttp2Stream, body: Buffer): void {
  stream.respond(head, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
  stream.end(body);
}

function failCall({ pick }: Member, stream: http2.ServerHttp2Stream): void {
  const status = { "grpc-status": String(pick(statuses)), "grpc-message": encodeURI(pick(details)) };
  stream.respond({ ...head, ...status }, { endStream: true });
}

/** A message with other fields or bytes. */
function oddMessage(member: Member, type: Message, value: object): Buffer {
  const { random } = member;
  const bytes = encodeMessage(type, disturbed(member, type, value));
  if (bytes.length > 0 && random(10) === 0) bytes[random(bytes.length)] = random(256);
  const cut = random(10) === 0 ? bytes.subarray(0, random(bytes.length + 1)) : bytes;
  const frame = framed(cut, random(40) === 0 ? 1 : 0);
  if (random(20) === 0) frame.writeUInt32BE(member.pick([0, 1, 2 ** 31, 2 ** 32 - 1]), 1);
  return random(20) === 0 ? frame.subarray(0, random(frame.length)) : frame;
}

const numbers = [0, 1, -1, 2, 100, 2 ** 31, 2 ** 53, 2n ** 63n - 1n, -(2n ** 63n)];
const bytesOf = ["", "\0", "/", "/registry/", "/registry/things/a", "{}", "null", "\xff\xfe", "k8s\0"];

/** A copy in which some fields are others, or absent. */
function disturbed(member: Member, type: Message, value: object): object {
  const { random, pick } = member;
  const entries = Object.entries(value).flatMap(([name, content]): [string, unknown][] => {
    const field = type.fields[name];
    if (field === undefined || content === undefined || random(15) === 0) return [];
    return [[name, field.repeated === true ? disturbedList(content as unknown[]) : disturbedOne(content)]];
    function disturbedOne(one: unknown): unknown {
      const kind = field?.type;
      if (typeof kind === "object") return disturbed(member, kind, one as object);
      if (random(6) > 0) return one;
      if (kind === "bool") return random(2) === 0;
      if (kind === "bytes") return Buffer.from(pick(bytesOf), "latin1");
      if (kind === "string") return pick(details);
      return random(2) === 0 ? pick(numbers) : Number(one) + random(5) - 2;
    }
    function disturbedList(list: unknown[]): unknown[] {
      const others = list.map(disturbedOne);
      if (random(8) === 0) others.reverse();
      if (random(8) === 0) others.push(...others);
      return others;
    }
  });
  return Object.fromEntries(entries);
}

/** One stream of watches. */
function serveWatches(member: Member, stream: http2.ServerHttp2Stream): void {
  const { state, random, pick } = member;
  const open = new Map<number, () => void>();
  const send = (response: object): void => {
    member.answered();
    if (stream.destroyed || stream.closed) return;
    const answer = { header: state.header(), ...response };
    if (!member.isOdd()) return void stream.write(framed(encodeMessage(messages.watchResponse, answer)));
    const odd = { ...answer, ...pick<object>([{}, {}, {}, { canceled: true }, { watch_id: -1 }, { watch_id: 77 }]) };
    pick<() => void>([
      ...Array<() => void>(6).fill(() => stream.write(oddMessage(member, messages.watchResponse, odd)) as never),
      () => stream.close(random(14)),
      () => stream.end(),
      () => stream.session?.destroy(),
      () => {}, // It never answers.
    ])();
  };
  const receive = ({ create_request: create, cancel_request: cancel }: WatchRequest): void => {
    if (create !== undefined) {
      const { watch_id, start_revision } = create;
      send({ watch_id, created: true });
      open.set(
        watch_id,
        state.watch(create, start_revision, (events) => send({ watch_id, events })),
      );
    } else if (cancel !== undefined) {
      open.get(cancel.watch_id)?.();
      open.delete(cancel.watch_id);
      send({ watch_id: cancel.watch_id, canceled: true });
    } else send({ watch_id: -1 });
  };
  stream.respond(head);
  let left: Buffer = Buffer.of();
  stream.on("data", (piece: Buffer) => {
    left = Buffer.concat([left, piece]);
    while (left.length >= 5 && left.length >= 5 + left.readUInt32BE(1)) {
      const end = 5 + left.readUInt32BE(1);
      receive(decodeMessage<WatchRequest>(messages.watchRequest, left.subarray(5, end)));
      left = left.subarray(end);
    }
  });
  stream.on("end", () => stream.destroyed || stream.end());
  stream.on("close", () => {
    for (const stop of open.values()) stop();
  });
}
