/** Time limits and waiting of a WebSocket, with a clock that the tests advance. */
import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import type { WebSocket } from "ws";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { throwingExchange } from "../../../test/support/throwing-exchange.ts";
import { webSocketChannels } from "./web-socket-channels.ts";

const hour = 3_600_000;
/** More than waits for the kubelet. */
const much = Buffer.alloc(70_000);

/** A WebSocket that records calls. */
class RecordedSocket extends EventEmitter {
  paused = false;
  pings = 0;
  terminated = false;
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
  ping(): void {
    this.pings++;
  }
  terminate(): void {
    this.terminated = true;
    this.emit("close");
  }
}

function open() {
  const socket = new RecordedSocket();
  const clock = manualClock();
  const channels = webSocketChannels(socket as unknown as WebSocket, clock, {
    stdin: true,
    resize: true,
    exchange: throwingExchange,
  });
  const receive = (channel: number, data = much): void =>
    void socket.emit("message", Buffer.concat([Buffer.from([channel]), data]));
  return { socket, clock, channels, receive };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test("closes a connection after four hours without a message", () => {
  const { socket, clock, receive } = open();
  clock.advance(4 * hour - 1);
  receive(1);
  clock.advance(4 * hour - 1);
  assert.equal(socket.terminated, false);
  clock.advance(1);
  assert.equal(socket.terminated, true);
});

test("pings a client only while it must wait for the kubelet", async () => {
  const { socket, clock, channels, receive } = open();
  receive(0);
  receive(0); // It was on the way before the pause.
  assert.equal(socket.paused, true);
  clock.advance(30_000);
  assert.equal(socket.pings, 3);
  channels.stdin.resume();
  await settle();
  assert.equal(socket.paused, false);
  clock.advance(30_000);
  assert.equal(socket.pings, 3);
});

test("waits again and again without more listeners", async () => {
  const { socket, channels, receive } = open();
  const before = channels.stdin.listenerCount("close");
  channels.stdin.resume();
  for (let round = 0; round < 20; round++) {
    receive(0);
    assert.equal(socket.paused, true);
    await settle();
    assert.equal(socket.paused, false);
  }
  assert.equal(channels.stdin.listenerCount("close"), before);
});

test("a client that fills two channels waits for both", async () => {
  const { socket, channels, receive } = open();
  receive(0);
  receive(4);
  channels.stdin.resume();
  await settle();
  assert.equal(socket.paused, true);
  channels.resize.resume();
  await settle();
  assert.equal(socket.paused, false);
});

test("a client that disconnects while its stdin is blocked ends stdin and the pings", async () => {
  const { socket, clock, channels, receive } = open();
  receive(0);
  socket.emit("close");
  await settle();
  assert.equal(channels.stdin.destroyed, true);
  clock.advance(5 * hour);
  assert.deepEqual([socket.pings, socket.terminated], [0, false]);
});
