/** Calls, against the server of the gRPC project, and against servers that break the protocol. */
import assert from "node:assert/strict";
import http2 from "node:http2";
import type { AddressInfo } from "node:net";
import { describe, type TestContext, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { Metadata, Server, ServerCredentials, type ServiceDefinition, status } from "@grpc/grpc-js";
import { type Clock, systemClock } from "../../../apimachinery/clock.ts";
import { callHeaders, callUnary, openCall } from "./call.ts";
import { Channel } from "./channel.ts";
import { endpointOf } from "./endpoints.ts";
import { CallError } from "./status.ts";

type Unary = (
  call: { readonly request: Buffer; on(event: "cancelled", run: () => void): void },
  done: (error: object | null, bytes?: Buffer) => void,
) => void;
type Bidi = (stream: NodeJS.ReadWriteStream & { on(event: "cancelled", run: () => void): void }) => void;

const bytes = { requestSerialize: Buffer.from, requestDeserialize: (read: Buffer) => read };
const answers = { responseSerialize: (sent: Buffer) => sent, responseDeserialize: Buffer.from };
const service = {
  one: { path: "/t/One", requestStream: false, responseStream: false, ...bytes, ...answers },
  many: { path: "/t/Many", requestStream: true, responseStream: true, ...bytes, ...answers },
} as unknown as ServiceDefinition;

/** Serves the methods, at a free port or the one given. */
async function serve(t: TestContext, one: Unary, many: Bidi = () => {}, port = 0): Promise<[Server, number]> {
  const server = new Server({ "grpc.max_receive_message_length": -1, "grpc.max_send_message_length": -1 });
  server.addService(service, { one, many } as never);
  t.after(() => server.forceShutdown());
  const bound = await new Promise<number>((resolve, reject) =>
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, at) =>
      error === null ? resolve(at) : reject(error),
    ),
  );
  return [server, bound];
}

function channelTo(t: TestContext, port: number, clock: Clock = systemClock): Channel {
  const channel = new Channel(endpointOf(`http://127.0.0.1:${port}`), clock);
  t.after(() => channel.close());
  return channel;
}

const one = (channel: Channel, request: string | Buffer = "x", timeoutMs = 60_000): Promise<Buffer> =>
  callUnary(channel, callHeaders(channel.endpoint, "/t/One"), Buffer.from(request), timeoutMs);

const echo: Unary = ({ request }, done) => done(null, request);

describe("a call", () => {
  for (const length of [0, 1, 16_384, 65_535, 3_000_000])
    test(`sends and receives a message of ${length} bytes`, async (t) => {
      const [, port] = await serve(t, echo);
      const message = Buffer.alloc(length, "0123456789");
      assert.ok((await one(channelTo(t, port), message)).equals(message));
    });

  test("shares a connection with other calls", async (t) => {
    const [, port] = await serve(t, echo);
    const channel = channelTo(t, port);
    const requests = Array.from({ length: 300 }, (_, at) => String(at).repeat(at));
    const received = await Promise.all(requests.map((request) => one(channel, request)));
    assert.deepEqual(received.map(String), requests);
    assert.equal(channel.connection(), channel.connection());
  });

  const statuses: [code: status, details: string, want: string][] = [
    [status.OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted", "OutOfRange"],
    [status.CANCELLED, "", "Canceled"],
    [status.UNAUTHENTICATED, "100 % of ünïcode", "Unauthenticated"],
  ];
  for (const [code, details, want] of statuses)
    test(`fails with ${want} when the server answers with status ${code}`, async (t) => {
      const [, port] = await serve(t, (_, done) => done({ code, details, metadata: new Metadata() }));
      await assert.rejects(one(channelTo(t, port)), new CallError(want as "Canceled", details));
    });

  test("is canceled at the server when its time is over", async (t) => {
    const canceled = Promise.withResolvers<void>();
    let pass = (): void => {};
    const after: Clock["after"] = (ms, run) => {
      if (ms !== timeoutMs) return systemClock.after(ms, run);
      pass = run;
      return () => {};
    };
    const timeoutMs = 1234;
    const [, port] = await serve(t, (call) => {
      call.on("cancelled", canceled.resolve);
      pass();
    });
    const channel = channelTo(t, port, { ...systemClock, after });
    await assert.rejects(one(channel, "x", timeoutMs), { code: "DeadlineExceeded" });
    await canceled.promise;
  });

  test("fails when the connection is lost, and the next one opens another", async (t) => {
    const [server, port] = await serve(t, () => server.forceShutdown());
    const channel = channelTo(t, port);
    await assert.rejects(one(channel), { code: "Unavailable", isUnsent: false });
    await assert.rejects(one(channel), { code: "Unavailable", isUnsent: true });
    await serve(t, echo, undefined, port);
    for (;;) {
      const answer = await one(channel).catch((error: unknown) => {
        assert.ok(error instanceof CallError && error.isUnsent);
        return sleep(20, undefined);
      });
      if (answer !== undefined) return assert.equal(String(answer), "x");
    }
  });

  test("fails when its client is closed", async (t) => {
    const [, port] = await serve(t, () => channel.close());
    const channel = channelTo(t, port);
    await assert.rejects(one(channel), { code: "Unavailable" });
    await assert.rejects(one(channel), { code: "Unavailable" });
  });
});

describe("a connection that is lost", () => {
  /** Runs the pings of connections when the test requests it. */
  function manualPings(): { readonly clock: Clock; pass(): void } {
    let pass = (): void => {};
    const after: Clock["after"] = (ms, run) => {
      if (ms !== 10_000) return systemClock.after(ms, run);
      pass = run;
      return () => {};
    };
    return { clock: { ...systemClock, after }, pass: () => pass() };
  }

  test("gets no pings, also before its calls have ended", async (t) => {
    const { clock, pass } = manualPings();
    const called = Promise.withResolvers<void>();
    const [, port] = await serve(t, () => called.resolve());
    const channel = channelTo(t, port, clock);
    const call = one(channel);
    call.catch(() => {}); // It is checked below.
    await called.promise;
    channel.close();
    pass();
    await assert.rejects(call, { code: "Unavailable" });
  });

  test("fails the calls that have waited for it", async (t) => {
    const [, port] = await serve(t, echo);
    const channel = channelTo(t, port);
    // It is closed before the calls that wait for it are notified.
    const closed = Promise.resolve(channel.connection()).then(() => channel.close());
    const calls = [one(channel), one(channel)];
    await closed;
    for (const call of calls) await assert.rejects(call, { code: "Unavailable", isUnsent: true });
  });
});

describe("a call in both directions", () => {
  test("sends and receives messages in order until the server ends it", async (t) => {
    const [, port] = await serve(t, echo, (stream) => {
      stream.on("data", (message: Buffer) => {
        for (let copy = 0; copy < 3; copy++) stream.write(message);
        if (String(message) === "end") stream.end();
      });
    });
    const channel = channelTo(t, port);
    const received: string[] = [];
    const error = await new Promise((resolve) => {
      const call = openCall(channel, callHeaders(channel.endpoint, "/t/Many"), {
        message: (message) => void received.push(String(message)),
        end: resolve,
      });
      for (const text of ["a", "b".repeat(100_000), "", "end"]) call.send(Buffer.from(text));
    });
    assert.equal(error, undefined);
    const want = ["a", "b".repeat(100_000), "", "end"].flatMap((text) => [text, text, text]);
    assert.deepEqual(received, want);
  });

  for (const when of ["before", "after"] as const)
    test(`receives nothing when it is canceled ${when} it has a connection`, async (t) => {
      const [, port] = await serve(t, echo, (stream) => stream.on("data", (message: Buffer) => stream.write(message)));
      const channel = channelTo(t, port);
      if (when === "after") await one(channel);
      const call = openCall(channel, callHeaders(channel.endpoint, "/t/Many"), {
        message: () => assert.fail("a message"),
        end: () => assert.fail("an end"),
      });
      call.send(Buffer.from("x"));
      call.cancel();
      assert.equal(String(await one(channel)), "x");
    });
});

describe("a server that", () => {
  const ok = { ":status": 200, "content-type": "application/grpc" };
  const message = Buffer.from([0, 0, 0, 0, 1, 0x78]);
  const rows: [what: string, answer: (stream: http2.ServerHttp2Stream) => void, want: object | string][] = [
    [
      "sends a message in pieces of a byte",
      (stream) => {
        stream.respond(ok, { waitForTrailers: true });
        stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
        for (const byte of message) stream.write(Buffer.from([byte]));
        stream.end();
      },
      "x",
    ],
    [
      "is no gRPC server",
      (stream) => stream.respond({ ":status": 404 }, { endStream: true }),
      { code: "Unimplemented" },
    ],
    ["is overloaded", (stream) => stream.respond({ ":status": 503 }, { endStream: true }), { code: "Unavailable" }],
    [
      "sends an unknown status",
      (stream) => stream.respond({ ...ok, "grpc-status": "99", "grpc-message": "%" }, { endStream: true }),
      { code: "Code(99)", details: "%" },
    ],
    [
      "sends no message",
      (stream) => stream.respond({ ...ok, "grpc-status": "0" }, { endStream: true }),
      { code: "Unimplemented", details: "No message received" },
    ],
    [
      "sends no status",
      (stream) => {
        stream.respond(ok);
        stream.end(message);
      },
      { code: "Internal", details: /without gRPC status/ },
    ],
    [
      "compresses the message",
      (stream) => {
        stream.respond(ok);
        stream.end(Buffer.from([1, 0, 0, 0, 0]));
      },
      { code: "Internal", details: "the message is compressed" },
    ],
    ["rejects the stream", (stream) => stream.close(http2.constants.NGHTTP2_REFUSED_STREAM), { code: "Unavailable" }],
    ["resets the stream", (stream) => stream.close(http2.constants.NGHTTP2_INTERNAL_ERROR), { code: "Internal" }],
    ["closes the connection", (stream) => stream.session?.destroy(), { code: "Unavailable" }],
    ["closes the connection with an error", (stream) => stream.session?.goaway(11), { code: "Unavailable" }],
    [
      "closes the connection in the middle of an answer",
      (stream) => {
        stream.respond(ok);
        stream.write(message, () => stream.session?.destroy());
      },
      { code: "Unavailable" },
    ],
  ];
  for (const [what, answer, want] of rows)
    test(`${what}: ${typeof want === "string" ? want : JSON.stringify(want)}`, async (t) => {
      const server = http2.createServer();
      server.on("stream", (stream: http2.ServerHttp2Stream) => {
        stream.on("error", () => {});
        answer(stream);
      });
      server.on("session", (session) => {
        session.on("error", () => {});
        t.after(() => session.destroy());
      });
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      t.after(() => server.close());
      const call = one(channelTo(t, (server.address() as AddressInfo).port));
      if (typeof want === "string") assert.equal(String(await call), want);
      else await assert.rejects(call, want);
    });
});
