/**
 * Guarantees: a turn runs one slice; work that throws rejects its caller alone; flows of a level
 * share equally and levels by weight, whatever they have waiting; idle flows get no credit, and all
 * work runs in the end.
 */
import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { FairTurns, type TurnShare } from "./fair-turns.ts";

/** Turns that the test starts. */
function manualTurns(sliceMs: number) {
  const scheduled: (() => void)[] = [];
  const turns = new FairTurns({ nextTurn: (run) => scheduled.push(run), sliceMs });
  return {
    turns,
    /** Runs one turn. @returns false if none is scheduled */
    turn(): boolean {
      const run = scheduled.shift();
      run?.();
      return run !== undefined;
    },
  };
}

const shareOf = (level: string, weight = 1): TurnShare => ({ level, weight, flow: {} });

describe("a turn", () => {
  test("runs work at once until the slice is used, and the rest in the next turns", async () => {
    const { turns, turn } = manualTurns(2);
    const share = shareOf("a");
    const ran: number[] = [];
    const work = (id: number) => (): number => ran.push(id) && 1;
    assert.equal(turns.run(share, work(1)), undefined);
    assert.equal(turns.run(share, work(2)), undefined);
    const later = [3, 4, 5].map((id) => turns.run(share, work(id)));
    assert.deepEqual([ran, turns.waiting], [[1, 2], 3]);
    turn();
    assert.deepEqual(ran, [1, 2, 3, 4]);
    turn();
    assert.deepEqual(ran, [1, 2, 3, 4, 5]);
    await Promise.all(later);
    assert.deepEqual([turn(), turn()], [true, false], "an idle server schedules no turns");
  });

  test("starts no work at once while other work waits", () => {
    const { turns } = manualTurns(1);
    void turns.run(shareOf("a"), () => 1);
    void turns.run(shareOf("a"), () => 1);
    assert.notEqual(
      turns.run(shareOf("a"), () => 1),
      undefined,
    );
  });

  test("work that throws fails alone", async () => {
    const { turns, turn } = manualTurns(1);
    const fail = (): number => {
      throw new Error("broken");
    };
    assert.throws(() => turns.run(shareOf("a"), fail), /broken/);
    void turns.run(shareOf("a"), () => 1);
    const failing = turns.run(shareOf("a"), fail);
    const next = turns.run(shareOf("a"), () => 1);
    turn();
    await assert.rejects(failing as Promise<void>, /broken/);
    await next;
  });
});

/** Keeps work waiting for each share. @returns the milliseconds that each got in a number of turns */
function sharing(
  shares: readonly (readonly [TurnShare, workMs: number, parallel: number])[],
  turnCount: number,
): number[] {
  const { turns, turn } = manualTurns(1);
  const used = shares.map(() => 0);
  const start = (index: number): void => {
    const [share, workMs] = shares[index] as (typeof shares)[number];
    void turns.run(share, () => {
      used[index] = (used[index] as number) + workMs;
      restart.push(index);
      return workMs;
    });
  };
  const restart: number[] = shares.flatMap(([, , parallel], index) => new Array(parallel).fill(index));
  for (let count = 0; count < turnCount; count++) {
    for (const index of restart.splice(0)) start(index);
    turn();
  }
  return used;
}

describe("shares", () => {
  const assertRatio = ([first = 0, second = 0]: number[], expected: number): void =>
    assert.ok(Math.abs(first / second / expected - 1) < 0.05, `${first} and ${second}, expected ${expected}`);

  test("flows share equally, whatever they have waiting", () => {
    assertRatio(
      sharing(
        [
          [shareOf("a"), 1, 100],
          [shareOf("a"), 1, 2],
        ],
        500,
      ),
      1,
    );
  });

  test("flows share time, not the number of pieces", () => {
    assertRatio(
      sharing(
        [
          [shareOf("a"), 2, 10],
          [shareOf("a"), 0.5, 10],
        ],
        2000,
      ),
      1,
    );
  });

  test("levels share by weight", () => {
    assertRatio(
      sharing(
        [
          [shareOf("a", 40), 1, 10],
          [shareOf("b", 10), 1, 10],
        ],
        2000,
      ),
      4,
    );
  });

  test("a flow that was idle runs next, and gets no credit for the time", () => {
    const { turns, turn } = manualTurns(1);
    const [busy, idle] = [shareOf("a"), shareOf("a")];
    const order: string[] = [];
    const add = (share: TurnShare, name: string): void => void turns.run(share, () => order.push(name) && 1);
    for (let count = 0; count < 50; count++) add(busy, "busy");
    for (let count = 0; count < 20; count++) turn();
    order.length = 0;
    for (let count = 0; count < 10; count++) add(idle, "idle");
    for (let count = 0; count < 10; count++) turn();
    assert.equal(order[0], "idle");
    assert.equal(order.filter((name) => name === "idle").length, 5, order.join());
  });

  test("a level forgets idle flows beyond its limit", () => {
    const { turns, turn } = manualTurns(1);
    for (let count = 0; count < 5000; count++) void turns.run(shareOf("a"), () => 0.01);
    while (turn());
    assert.equal(turns.waiting, 0);
  });
});
