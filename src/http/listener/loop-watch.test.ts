import assert from "node:assert/strict";
import { test } from "node:test";
import type { Exchange } from "../../request/exchange.ts";
import { LoopWatch } from "./loop-watch.ts";

type Step = readonly [at: number, call: "tick"] | readonly [at: number, call: "begins" | "answers", path: string];

const rows: [what: string, steps: Step[], blocks: [ms: number, path: string | undefined][]][] = [
  [
    "ticks in time",
    [
      [50, "tick"],
      [100, "tick"],
      [150, "tick"],
    ],
    [],
  ],
  [
    "a tick that is 250 ms late",
    [
      [50, "tick"],
      [350, "tick"],
    ],
    [],
  ],
  [
    "a tick that is later",
    [
      [50, "tick"],
      [351, "tick"],
      [401, "tick"],
    ],
    [[251, undefined]],
  ],
  [
    "a request that computes",
    [
      [50, "tick"],
      [60, "begins", "/a"],
      [400, "tick"],
    ],
    [[340, "/a"]],
  ],
  [
    "a request that answers after it has computed",
    [
      [60, "begins", "/a"],
      [400, "answers", "/a"],
      [401, "tick"],
    ],
    [[340, "/a"]],
  ],
  [
    "a request that computes before another begins",
    [
      [60, "begins", "/a"],
      [400, "begins", "/b"],
      [401, "tick"],
    ],
    [[340, "/a"]],
  ],
  [
    "a request that computes after it has waited",
    [
      [60, "begins", "/a"],
      [100, "tick"],
      [400, "answers", "/a"],
    ],
    [[300, "/a"]],
  ],
  [
    "a request that waits",
    [
      [60, "begins", "/a"],
      [100, "tick"],
      [150, "tick"],
      [200, "answers", "/a"],
    ],
    [],
  ],
  [
    "many short requests",
    [
      [10, "begins", "/a"],
      [200, "begins", "/b"],
      [400, "begins", "/c"],
      [600, "tick"],
    ],
    [],
  ],
];

for (const [what, steps, expected] of rows) {
  test(`${expected.length === 0 ? "reports no block" : "reports a block"} for ${what}`, () => {
    let now = 0;
    const blocks: unknown[] = [];
    const watch = new LoopWatch(
      () => now,
      ({ blockedMs, exchange }) => blocks.push([blockedMs, exchange?.target]),
    );
    for (const [at, call, path] of steps) {
      now = at;
      if (call === "tick") watch.tick();
      else watch[call]({ target: path } as Exchange);
    }
    assert.deepEqual(blocks, expected);
  });
}
