import assert from "node:assert/strict";
import { test } from "node:test";
import { EventLoopTurns } from "./event-loop-turns.ts";

const share = { level: "a", weight: 1, flow: {} };

function manual() {
  const scheduled: (() => void)[] = [];
  const turns = new EventLoopTurns({ now: () => 0, nextTurn: (run) => scheduled.push(run) });
  return {
    turns,
    turn: (): void => {
      for (const run of scheduled.splice(0)) run();
    },
  };
}

test("one large piece is written in a turn", async () => {
  const { turns, turn } = manual();
  let written = 0;
  const pieces = [1, 2, 3].map(() =>
    turns.piece(share, () => {
      written++;
      return 128 << 10;
    }),
  );
  assert.deepEqual([written, pieces[0]], [1, undefined]);
  turn();
  assert.equal(written, 2);
  turn();
  assert.equal(written, 3);
  await Promise.all(pieces);
});

test("pieces that wait do not delay requests", () => {
  const { turns } = manual();
  for (let count = 0; count < 500; count++) void turns.piece(share, () => 128 << 10);
  assert.equal(turns.request(share), undefined);
});

test("requests that arrive together start in several turns, and those of other flows first", async () => {
  const { turns, turn } = manual();
  const flood = Array.from({ length: 100 }, () => turns.request(share));
  assert.equal(flood.filter((pending) => pending === undefined).length, 16);
  let started = false;
  const other = turns.request({ ...share, flow: {} })?.then(() => {
    started = true;
  });
  turn();
  await other;
  assert.ok(started);
});
