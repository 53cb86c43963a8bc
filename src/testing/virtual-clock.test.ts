import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { passTurns, turnsUntil } from "../../test/support/pass-turns.ts";
import { until } from "../../test/support/until.ts";
import { nothingToDo } from "../apimachinery/clock.ts";
import { type VirtualClock, virtualClock } from "./virtual-clock.ts";

const start = Date.UTC(2030, 0);
const clockAtStart = (): VirtualClock => virtualClock({ now: start });

test("starts at the real time and does not move", async () => {
  const before = Date.now();
  const clock = virtualClock();
  const first = clock.now();
  assert.ok(before <= first && first <= Date.now());
  await until(() => Date.now() > first);
  assert.equal(clock.now(), first);
});

const spans: [span: string | number, ms: number][] = [
  ["1h", 3_600_000],
  ["1h30m", 5_400_000],
  ["1.5s", 1500],
  ["250ms", 250],
  ["0", 0],
  [0, 0],
  [1, 1],
  [86_400_000, 86_400_000],
];

for (const [span, ms] of spans) {
  test(`advances by ${JSON.stringify(span)}`, async () => {
    const clock = clockAtStart();
    await clock.advance(span);
    assert.equal(clock.now(), start + ms);
  });
}

const rejected: [span: string | number, error: object][] = [
  ["1d", { name: "DurationError", message: 'time: unknown unit "d" in duration "1d"' }],
  ["", { name: "DurationError" }],
  ["-1s", { name: "RangeError" }],
  ["1ns", { name: "RangeError" }],
  [-1, { name: "RangeError" }],
  [0.5, { name: "RangeError" }],
  [Number.NaN, { name: "RangeError" }],
  [Number.POSITIVE_INFINITY, { name: "RangeError" }],
  [Date.UTC(9999, 11), { name: "RangeError", message: /between the years 1970 and 9999/ }],
];

for (const [span, error] of rejected.filter(([, error]) => error !== undefined)) {
  test(`rejects to advance by ${JSON.stringify(span)}, and does not move`, async () => {
    const clock = clockAtStart();
    await assert.rejects(clock.advance(span), error);
    assert.equal(clock.now(), start);
    await clock.advance(1);
    assert.equal(clock.now(), start + 1);
  });
}

test("advances to a time, and not back", async () => {
  const clock = clockAtStart();
  await clock.advanceTo(new Date("2030-01-02T00:00:00Z"));
  assert.equal(new Date(clock.now()).toISOString(), "2030-01-02T00:00:00.000Z");
  await clock.advanceTo(clock.now());
  await assert.rejects(clock.advanceTo(start), {
    name: "RangeError",
    message: "2030-01-01T00:00:00.000Z is before the time of the clock, 2030-01-02T00:00:00.000Z",
  });
  await assert.rejects(clock.advanceTo(new Date("x")), RangeError);
});

for (const now of [-1, Number.NaN, 0.5, new Date("x"), 8.64e15]) {
  test(`rejects the first time ${now}`, () => assert.throws(() => virtualClock({ now }), RangeError));
}

test("fires timers in the order of their times, each at its time", async () => {
  const clock = clockAtStart();
  const fired: [string, number][] = [];
  const note = (name: string) => (): void => void fired.push([name, clock.now() - start]);
  clock.after(300, note("c"));
  clock.after(100, note("a"));
  clock.after(200, note("b1"));
  const cancel = clock.after(200, note("cancelled"));
  clock.after(200, note("b2"));
  clock.after(301, note("later"));
  cancel();
  cancel();
  await clock.advance(300);
  assert.deepEqual(fired, [
    ["a", 100],
    ["b1", 200],
    ["b2", 200],
    ["c", 300],
  ]);
});

test("fires the timers that timers create, also periodic ones", async () => {
  const clock = clockAtStart();
  const fired: number[] = [];
  const again = (): void => {
    fired.push(clock.now() - start);
    clock.after(1000, again);
  };
  clock.after(1000, again);
  await clock.advance("3500ms");
  assert.deepEqual(fired, [1000, 2000, 3000]);
  assert.equal(clock.now(), start + 3500);
});

test("fires a timer without a delay while the time is stopped", async () => {
  const clock = clockAtStart();
  const fired: number[] = [];
  clock.after(0, () => fired.push(clock.now()));
  clock.after(-5, () => fired.push(clock.now()));
  clock.after(0, () => fired.push(Number.NaN))();
  assert.deepEqual(fired, []);
  await nextTurn();
  await nextTurn();
  assert.deepEqual(fired, [start, start]);
});

test("a fraction of a delay is rounded up, so that a check of the time finds it reached", async () => {
  const clock = clockAtStart();
  let at = 0;
  clock.after(0.25, () => {
    at = clock.now();
  });
  await clock.advance(1);
  assert.equal(at, start + 1);
});

test("lets the work of a timer end before the next one fires", async () => {
  const clock = clockAtStart();
  const events: string[] = [];
  clock.after(1, () => {
    const end = clock.beginWork?.();
    void (async () => {
      await passTurns(50);
      events.push("first done");
      end?.();
    })();
  });
  clock.after(2, async () => {
    await passTurns(50);
    events.push("second done");
  });
  clock.after(3, () => events.push("third"));
  await clock.advance(3);
  assert.deepEqual(events, ["first done", "second done", "third"]);
});

test("goes on when work waits for a later timer", async () => {
  const clock = clockAtStart();
  const events: string[] = [];
  clock.after(1, async () => {
    await new Promise<void>((resolve) => clock.after(10, resolve));
    events.push("woken");
  });
  await clock.advance(20);
  assert.deepEqual(events, ["woken"]);
});

test("stops with an error when timers do not end", async () => {
  const clock = clockAtStart();
  let isOn = true;
  const again = (): void => void (isOn && clock.after(0, again));
  clock.after(1000, again);
  await assert.rejects(clock.advance("1h"), {
    message: "the clock stopped at 2030-01-01T00:00:01.000Z: 10000 timers fired at this time, without an end",
  });
  assert.equal(clock.now(), start + 1000);
  isOn = false;
  await clock.advance("1h");
  assert.equal(clock.now(), start + 1000 + 3_600_000);
});

/** A timer for each second: a week of them with COXSWAIN_TEST_FULL=1, otherwise six hours. */
const span = (process.env.COXSWAIN_TEST_FULL === "1" ? 7 * 24 : 6) * 3_600_000;
for (const [title, result] of [
  ["a value", (): unknown => nothingToDo],
  ["a promise", async (): Promise<unknown> => nothingToDo],
] as const) {
  test(`timers that return ${title} without work fire in their order among others`, async () => {
    const clock = clockAtStart();
    let fired = 0;
    const idle = (): unknown => {
      fired += 1;
      clock.after(1000, idle);
      return result();
    };
    clock.after(1000, idle);
    const seen: number[] = [];
    clock.after(span / 2, async () => {
      await passTurns(10);
      seen.push(fired);
    });
    await clock.advance(span);
    assert.deepEqual([fired, seen], [span / 1000, [span / 2000 - 1]]);
  });
}

test("serves others while timers without work fire", async () => {
  const clock = clockAtStart();
  const idle = (): unknown => {
    clock.after(1, idle);
    return nothingToDo;
  };
  clock.after(1, idle);
  let isOver = false;
  const advanced = clock.advance(5000).finally(() => {
    isOver = true;
  });
  const turns = await turnsUntil(() => isOver);
  await advanced;
  assert.ok(turns >= 5, `${turns} turns`);
});

test("a signal stops the clock at the last timer, and keeps waiting calls from moving it", async () => {
  const clock = clockAtStart();
  const controller = new AbortController();
  const { signal } = controller;
  clock.after(1000, () => controller.abort());
  clock.after(2000, () => assert.fail("fires after the end"));
  const [first, second] = [clock.advance("1h", { signal }), clock.advanceTo(start + 10_000, { signal })];
  await assert.rejects(first, { name: "AbortError" });
  await assert.rejects(second, { name: "AbortError" });
  assert.equal(clock.now(), start + 1000);
  await clock.advance(999);
  assert.equal(clock.now(), start + 1999);
});

test("calls run one after another", async () => {
  const clock = clockAtStart();
  const times: number[] = [];
  clock.after(1500, () => times.push(clock.now() - start));
  const first = clock.advance(1000).then(() => times.push(clock.now() - start));
  const second = clock.advance(1000).then(() => times.push(clock.now() - start));
  await Promise.all([first, second]);
  assert.deepEqual(times, [1000, 1500, 2000]);
});

test("rejects with the error of a timer, at its time", async () => {
  const clock = clockAtStart();
  clock.after(5, () => {
    throw new Error("of the timer");
  });
  await assert.rejects(clock.advance(10), { message: "of the timer" });
  assert.equal(clock.now(), start + 5);
});
