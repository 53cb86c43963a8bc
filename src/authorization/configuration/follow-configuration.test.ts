/** A chain that follows its file, while the next one takes its time. The file itself: test/e2e/authorization-webhook.test.ts */
import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { systemClock } from "../../apimachinery/clock.ts";
import type { Chain } from "../chain.ts";
import type { AuthorizationAttributes } from "../contract.ts";
import { parseAuthorizationConfiguration } from "./configuration.ts";
import { followConfiguration } from "./follow-configuration.ts";

const text = (...types: string[]): string =>
  `apiVersion: apiserver.config.k8s.io/v1\nkind: AuthorizationConfiguration\nauthorizers:\n${types.map((type) => `- {type: ${type}, name: ${type.toLowerCase()}}\n`).join("")}`;

interface Followed {
  readonly chain: Chain;
  /** What happened since the last look. */
  happened(): string[];
  replace(content: string): void;
  /** Until a chain is asked for, which is made, or is not, when the answer is called. */
  asked(): Promise<(error?: Error) => void>;
  /** Until so much was said. */
  until(event: string): Promise<void>;
}

async function follow(run: (followed: Followed) => Promise<void>): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), "coxswain-follow-"));
  const file = join(directory, "file");
  const content = Buffer.from(text("AlwaysDeny", "AlwaysAllow"));
  writeFileSync(file, content);
  const events: string[] = [];
  const pending: ((error?: Error) => void)[] = [];
  let wake = (): void => undefined;
  const tell = (event: string): void => {
    events.push(event);
    wake();
  };
  const named = (name: string): Chain => ({
    authorize: () => ({ decision: "noOpinion", reason: name }),
    rulesOf: () => ({ rules: [], incomplete: false, problem: name }),
    retire: () => tell(`${name} retires`),
    close: () => tell(`${name} closes`),
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
    reloads: { started: () => {}, succeeded: () => tell("succeeded"), failed: () => tell("failed") },
    clock: { ...systemClock, after: (ms, then) => systemClock.after(ms / 50, then) },
    logger: { info() {}, warn() {}, error: (message, values) => tell(`${message}: ${values?.error}`) },
  });
  const waitFor = async (isThere: () => boolean): Promise<void> => {
    while (!isThere()) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  try {
    await run({
      chain,
      happened: () => events.splice(0),
      replace(next) {
        writeFileSync(`${file}.new`, next);
        renameSync(`${file}.new`, file);
      },
      async asked() {
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

test("the old chain is asked until the new one is there", async () => {
  await follow(async (followed) => {
    followed.replace(text("AlwaysAllow", "AlwaysDeny"));
    const ready = await followed.asked();
    assert.equal(await answerOf(followed), "first");
    ready();
    await followed.until("succeeded");
    assert.equal(await answerOf(followed), "AlwaysAllow+AlwaysDeny");
    assert.equal(
      followed.chain.rulesOf({ name: "", uid: "", groups: [], extra: new Map() }, "").problem,
      "AlwaysAllow+AlwaysDeny",
    );
    assert.deepEqual(followed.happened(), ["first retires", "succeeded"]);
  });
});

test("one after the other: what comes meanwhile comes after, and last", async () => {
  await follow(async (followed) => {
    followed.replace(text("AlwaysAllow", "AlwaysDeny"));
    const first = await followed.asked();
    followed.replace(`${text("AlwaysDeny")}- {type: AlwaysAllow, name: alwaysallow}\n- {type: Node, name: node}\n`);
    await new Promise((resolve) => setTimeout(resolve, 20));
    first();
    const second = await followed.asked();
    second(new Error("no"));
    await followed.until("failed");
    assert.equal(await answerOf(followed), "AlwaysAllow+AlwaysDeny");
    assert.deepEqual(followed.happened(), [
      "first retires",
      "succeeded",
      "reloading authorization config: no",
      "failed",
    ]);
  });
});

test("a chain that is there when nobody wants it any more is closed", async () => {
  await follow(async (followed) => {
    followed.replace(text("AlwaysAllow", "AlwaysDeny"));
    const ready = await followed.asked();
    followed.chain.close();
    ready();
    await followed.until("AlwaysAllow+AlwaysDeny closes");
    assert.deepEqual(followed.happened(), ["first closes", "AlwaysAllow+AlwaysDeny closes"]);
  });
});
