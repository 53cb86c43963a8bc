/**
 * Reloads with a slow `open`. test/e2e/authorization-webhook.test.ts tests reloads with a real
 * server.
 */

import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { until } from "../../../test/support/until.ts";
import { systemClock } from "../../apimachinery/clock.ts";
import type { Chain } from "../chain.ts";
import type { AuthorizationAttributes } from "../contract.ts";
import { parseAuthorizationConfiguration } from "./configuration.ts";
import { followConfiguration } from "./follow-configuration.ts";

const text = (...types: string[]): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n${types.map((type) => `- {type: ${type}, name: ${type.toLowerCase()}}\n`).join("")}`;

interface Followed {
  readonly chain: Chain;
  /** Returns the events since the last call. */
  takeEvents(): string[];
  replace(content: string): void;
  /** Resolves when a chain is opened, with a function that completes the opening or fails it. */
  openCalled(): Promise<(error?: Error) => void>;
  /** Informational messages of the log. */
  readonly logged: readonly string[];
  /** Resolves when the event has occurred. */
  until(event: string): Promise<void>;
}

async function follow(run: (followed: Followed) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-follow-"));
  const file = join(directory, "file");
  const content = Buffer.from(text("AlwaysDeny", "AlwaysAllow"));
  writeFileSync(file, content);
  const events: string[] = [];
  const logged: string[] = [];
  const pending: ((error?: Error) => void)[] = [];
  let wake = (): void => undefined;
  const record = (event: string): void => {
    events.push(event);
    wake();
  };
  const named = (name: string): Chain => ({
    authorize: () => ({ decision: "noOpinion", reason: name }),
    rulesOf: () => ({ rules: [], incomplete: false, problem: name }),
    retire: () => record(`${name} retires`),
    close: () => record(`${name} closes`),
  });
  const chain = followConfiguration({
    file,
    content,
    configuration: parseAuthorizationConfiguration(content),
    chain: named("first"),
    open: ({ authorizers }) =>
      new Promise((resolve, reject) => {
        pending.push((error) =>
          error === undefined ? resolve(named(authorizers.map(({ type }) => type).join("+"))) : reject(error),
        );
        wake();
      }),
    reloads: { started: () => {}, succeeded: () => record("succeeded"), failed: () => record("failed") },
    clock: { ...systemClock, after: (ms, then) => systemClock.after(ms / 50, then) },
    logger: {
      info: (message) => void logged.push(message),
      warn() {},
      error: (message, values) => record(`${message}: ${values?.error}`),
    },
  });
  const waitFor = async (condition: () => boolean): Promise<void> => {
    while (!condition()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  try {
    await run({
      chain,
      logged,
      takeEvents: () => events.splice(0),
      replace(next) {
        writeFileSync(`${file}.new`, next);
        renameSync(`${file}.new`, file);
      },
      async openCalled() {
        await waitFor(() => pending.length > 0);
        return pending.shift() as (error?: Error) => void;
      },
      until: (event) => waitFor(() => events.includes(event)),
    });
  } finally {
    chain.close();
    rmSync(directory, { recursive: true });
  }
}

const answerOf = async ({ chain }: Followed): Promise<string> =>
  (await chain.authorize({} as AuthorizationAttributes)).reason;

test("uses the old chain until the new one is open", async () => {
  await follow(async (followed) => {
    followed.replace(text("AlwaysAllow", "AlwaysDeny"));
    const ready = await followed.openCalled();
    assert.equal(await answerOf(followed), "first");
    ready();
    await followed.until("succeeded");
    assert.equal(await answerOf(followed), "AlwaysAllow+AlwaysDeny");
    assert.equal(
      followed.chain.rulesOf({ name: "", uid: "", groups: [], extra: new Map() }, "").problem,
      "AlwaysAllow+AlwaysDeny",
    );
    assert.deepEqual(followed.takeEvents(), ["first retires", "succeeded"]);
  });
});

test("applies a change during a reload after the reload", async () => {
  await follow(async (followed) => {
    followed.replace(text("AlwaysAllow", "AlwaysDeny"));
    const first = await followed.openCalled();
    followed.replace(`${text("AlwaysDeny")}- {type: AlwaysAllow, name: alwaysallow}\n- {type: Node, name: node}\n`);
    await until(() => followed.logged.filter((one) => one === "found new authorization config data").length === 2);
    first();
    const second = await followed.openCalled();
    second(new Error("no"));
    await followed.until("failed");
    assert.equal(await answerOf(followed), "AlwaysAllow+AlwaysDeny");
    assert.deepEqual(followed.takeEvents(), [
      "first retires",
      "succeeded",
      "reloading authorization config: no",
      "failed",
    ]);
  });
});

test("closes a chain that opens after close()", async () => {
  await follow(async (followed) => {
    followed.replace(text("AlwaysAllow", "AlwaysDeny"));
    const ready = await followed.openCalled();
    followed.chain.close();
    ready();
    await followed.until("AlwaysAllow+AlwaysDeny closes");
    assert.deepEqual(followed.takeEvents(), ["first closes", "AlwaysAllow+AlwaysDeny closes"]);
  });
});
