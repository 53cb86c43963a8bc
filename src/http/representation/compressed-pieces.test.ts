/** Long responses to clients that accept gzip: what is sent, and what waits for the client. */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { test } from "node:test";
import { gunzipSync } from "node:zlib";
import { passTurns } from "../../../test/support/pass-turns.ts";
import { until } from "../../../test/support/until.ts";
import type { BodyStream, Exchange } from "../../request/exchange.ts";
import type { RequestContext } from "../contract.ts";
import { json } from "./json.ts";
import { encodedPiece, type Piece } from "./piece.ts";
import { PieceMemory } from "./piece-memory.ts";
import { sendPieces } from "./pieces.ts";

/** A connection that accepts data when the test releases it. */
class StallingBody implements BodyStream {
  readonly sent: Buffer[] = [];
  readonly pendingBytes = 0;
  reserve?: () => Promise<void>;
  isEnded = false;
  #isClosed = false;
  #release = (): void => {};

  write(piece: Buffer): boolean {
    this.sent.push(piece);
    return false;
  }

  drained(): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#release();
  }

  leave(): void {
    this.#isClosed = true;
    this.#release();
  }

  end(): void {
    this.isEnded = true;
  }

  abort(): void {}
}

/** Bytes that no compression makes fewer. */
const content = randomBytes(100_000);
const count = 5;

interface Sending {
  readonly body: StallingBody;
  readonly exchange: { closed: boolean };
  encoded: number;
  readonly sent: Promise<void>;
}

/** @param inTurns whether the connection has slots */
function sendFive({ inTurns = false, grant = (): Promise<void> => Promise.resolve() } = {}): Sending {
  const body = new StallingBody();
  if (inTurns) body.reserve = grant;
  const exchange = { stream: () => body, closed: false, onClose: () => undefined };
  const turn = (work: () => number): undefined => void work();
  const context = {
    exchange: exchange as unknown as Exchange,
    gzip: true,
    warnings: [],
    headers: {},
    auditId: "",
    representation: { encoding: json },
    ...(inTurns && { turn }),
  } as unknown as RequestContext;
  const sending = { body, exchange, encoded: 0, sent: Promise.resolve() };
  function* pieces(): Generator<Piece, void, void> {
    for (let index = 0; index < count; index++) {
      sending.encoded++;
      yield encodedPiece(content, index === count - 1);
    }
  }
  sending.sent = sendPieces(context, pieces(), new PieceMemory());
  return sending;
}

test("a client that does not read gets no more than one piece, and all of them later", async () => {
  const sending = sendFive();
  await until(() => sending.body.sent.length > 0);
  await passTurns(100);
  assert.deepEqual([sending.body.sent.length, sending.encoded], [1, 2]);
  while (!sending.body.isEnded) {
    sending.body.release();
    await new Promise(setImmediate);
  }
  await sending.sent;
  assert.ok(gunzipSync(Buffer.concat(sending.body.sent)).equals(Buffer.concat(Array(count).fill(content))));
});

test("each write waits for a slot of the connection", async () => {
  const grants: (() => void)[] = [];
  let reserved = 0;
  const grant = (): Promise<void> => {
    reserved++;
    return new Promise((resolve) => grants.push(resolve));
  };
  const { body, sent } = sendFive({ inTurns: true, grant });
  while (!body.isEnded) {
    assert.equal(reserved - body.sent.length, grants.length);
    grants.shift()?.();
    body.release();
    await new Promise(setImmediate);
  }
  await sent;
  assert.equal(body.sent.length, reserved);
});

test("does not wait for a client that disconnected", async () => {
  const { body, exchange, sent } = sendFive();
  await until(() => body.sent.length > 0);
  exchange.closed = true;
  body.leave();
  await sent;
  assert.equal(body.isEnded, false);
});
