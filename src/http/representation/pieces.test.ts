import assert from "node:assert/strict";
import { test } from "node:test";
import type { BodyStream, Exchange } from "../../request/exchange.ts";
import type { RequestContext } from "../contract.ts";
import { json } from "./json.ts";
import { encodedPiece, type Piece, pieceBytes } from "./piece.ts";
import { PieceMemory } from "./piece-memory.ts";
import { sendPieces } from "./pieces.ts";

/**
 * @param takes whether the socket takes a piece before the next is made
 * @returns how many buffers the pieces were made in
 */
async function buffersOf(takes: boolean, count: number, length: number): Promise<{ buffers: number; sent: string }> {
  const memory = new PieceMemory();
  const buffers = new Set<ArrayBufferLike>();
  let sent = "";
  const stream: BodyStream = {
    write(piece, taken) {
      sent += piece.toString("latin1", 0, 1);
      if (takes) taken?.();
      return true;
    },
    drained: () => Promise.resolve(),
    pendingBytes: 0,
    end: () => undefined,
    abort: () => undefined,
  };
  function* pieces(): Generator<Piece, void, void> {
    for (let index = 0; index < count; index++) {
      const bytes = memory.take(length).fill(`${index}`);
      buffers.add(bytes.buffer);
      yield encodedPiece(bytes, index === count - 1);
    }
  }
  const exchange = { stream: () => stream, closed: false };
  const context = { exchange, warnings: [], headers: {}, auditId: "", representation: { encoding: json } };
  await sendPieces(context as unknown as RequestContext, pieces(), memory);
  return { buffers: buffers.size, sent };
}

const rows: [what: string, takes: boolean, length: number, buffers: number][] = [
  ["what the socket has taken is written over", true, pieceBytes, 1],
  ["what it has not is left alone", false, pieceBytes, 9],
  ["an object larger than a piece has memory of its own", true, pieceBytes * 2, 9],
  ["a short piece fits what is there", true, pieceBytes + 1, 1],
];
for (const [what, takes, length, buffers] of rows)
  test(what, async () => assert.deepEqual(await buffersOf(takes, 9, length), { buffers, sent: "012345678" }));

test("no more than a few buffers are kept", () => {
  const memory = new PieceMemory();
  const taken = Array.from({ length: 100 }, () => memory.take(pieceBytes));
  for (const bytes of taken) memory.release(bytes);
  const known = new Set<ArrayBufferLike>(taken.map(({ buffer }) => buffer));
  assert.equal(taken.filter(() => known.has(memory.take(pieceBytes).buffer)).length, 16);
});

test("answers that are compressed at a time have places, which closed exchanges give back", () => {
  const memory = new PieceMemory();
  const closes: (() => void)[] = [];
  const exchange = { onClose: (run: () => void) => closes.push(run) } as unknown as Exchange;
  const taken = Array.from({ length: 300 }, () => memory.takeGzip(exchange));
  assert.equal(taken.filter((isTaken) => isTaken).length, 256);
  closes[0]?.();
  assert.deepEqual([memory.takeGzip(exchange), memory.takeGzip(exchange)], [true, false]);
});

test("a short answer after empty pieces is sent whole", async () => {
  const answers: unknown[] = [];
  function* pieces(): Generator<Piece, void, void> {
    for (const text of ["", "", "a"]) yield encodedPiece(Buffer.from(text), text === "a");
  }
  const exchange = { respond: (_status: number, _headers: object, body: Buffer) => answers.push(String(body)) };
  const context = { exchange, warnings: [], headers: {}, auditId: "", representation: { encoding: json } };
  await sendPieces(context as unknown as RequestContext, pieces(), new PieceMemory());
  assert.deepEqual(answers, ["a"]);
});
