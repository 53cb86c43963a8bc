/** A configuration file that changes: what is used when, what is kept, what is told. */
import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { discoveryPath, startTokenIssuer, type TokenIssuer } from "../../../test/support/token-issuer.ts";
import { type FollowedAuthenticators, followAuthenticators } from "./follow-configuration.ts";
import { authenticationSettings } from "./settings.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-follow-"));
after(() => rmSync(directory, { recursive: true }));
let files = 0;

function written(issuers: readonly TokenIssuer[], prefix: string, more: object = {}): string {
  const jwt = issuers.map(({ url, ca }) => ({
    issuer: { url, certificateAuthority: ca, audiences: ["coxswain"] },
    claimMappings: { username: { claim: "sub", prefix } },
  }));
  return JSON.stringify({
    apiVersion: "apiserver.config.k8s.io/v1beta1",
    kind: "AuthenticationConfiguration",
    jwt,
    ...more,
  });
}

interface Followed extends FollowedAuthenticators {
  readonly clock: ManualClock;
  /** `started`, `succeeded`, `failed`, and issuers that were forgotten. */
  readonly told: string[];
  write(content: string): void;
  /** The name of the user, or `refused`. */
  ask(token: string): Promise<string | undefined>;
  /** Lets time pass until so much was told. */
  until(count: number, stepMs?: number): Promise<void>;
}

async function follow(content: string, run: (followed: Followed) => Promise<void>): Promise<void> {
  const file = join(directory, `file-${files++}`);
  writeFileSync(file, content);
  const clock = manualClock(Date.now());
  const told: string[] = [];
  const gates = { enabled: () => true };
  const settings = await authenticationSettings({
    oidc: {},
    configFile: file,
    anonymousAuth: undefined,
    serviceAccountIssuers: ["https://sa"],
    gates,
  });
  const followed = followAuthenticators(settings, {
    clock,
    logger: { info() {}, warn() {}, error() {} },
    dialOf: () => assert.fail("no issuer is behind an egress selector"),
    reloads: {
      started: () => told.push("started"),
      succeeded: () => told.push("succeeded"),
      failed: () => told.push("failed"),
    },
    forget: (issuers) => told.push(...issuers),
  });
  try {
    await run({
      ...followed,
      clock,
      told,
      write(text) {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      },
      async ask(token) {
        const answer = await followed.authenticate(token, ["api"]);
        if (answer === undefined) return undefined;
        return "problem" in answer ? "rejected" : answer.user.name;
      },
      async until(count, stepMs = 100) {
        while (told.length < count) {
          clock.advance(stepMs); // For the file, which must stand still for a moment.
          await new Promise((resolve) => setTimeout(resolve, 2));
        }
      },
    });
  } finally {
    followed.close();
  }
}

async function withIssuers(run: (first: TokenIssuer, second: TokenIssuer) => Promise<void>): Promise<void> {
  const [first, second] = [await startTokenIssuer(), await startTokenIssuer()];
  try {
    await run(first, second);
  } finally {
    await first.close();
    await second.close();
  }
}

async function ready(ask: () => Promise<string | undefined>, want: string): Promise<void> {
  while ((await ask()) !== want) await new Promise((resolve) => setTimeout(resolve, 2));
}

test("what changes is used, what is wrong is not", async () => {
  await withIssuers(async (first, second) => {
    await follow(written([first], "a:"), async ({ ask, told, write, until }) => {
      const token = await first.sign({ exp: 4102444800 });
      await ready(() => ask(token), "a:ann");
      write(written([first, second], "b:"));
      await until(2);
      assert.deepEqual([await ask(token), await ask(await second.sign({ exp: 4102444800 }))], ["b:ann", "b:ann"]);
      const sa = written([{ ...first, url: "https://sa" }], "c:");
      for (const bad of [
        "",
        "{",
        "[]",
        written([first], "c:").replace("jwt", "jwd"),
        sa,
        written([first], "c:", { anonymous: { enabled: true } }),
      ]) {
        const before = told.length;
        write(bad);
        await until(before + 1);
        assert.equal(await ask(token), "b:ann");
      }
      assert.deepEqual(told, ["started", "succeeded", ...Array.from({ length: 6 }, () => "failed")]);
      write(written([first], "d:"));
      await until(9);
      assert.equal(await ask(token), "d:ann");
    });
  });
});

test("the old authenticators serve until the new issuers have answered, or not within a minute; then they are tried again", async () => {
  await withIssuers(async (first, second) => {
    second.replies.set(discoveryPath, (response) => response.writeHead(503).end());
    await follow(written([first], "a:"), async ({ ask, told, write, until, clock }) => {
      const token = await first.sign({ exp: 4102444800 });
      await ready(() => ask(token), "a:ann");
      write(written([first, second], "b:"));
      while (second.asked(discoveryPath) === 0) {
        clock.advance(100);
        await new Promise((resolve) => setTimeout(resolve, 2));
      }
      assert.equal(await ask(token), "a:ann");
      await until(2, 2000);
      assert.deepEqual([told, await ask(token)], [["started", "failed"], "a:ann"]);
      second.replies.delete(discoveryPath);
      await until(3, 2000);
      assert.deepEqual([told, await ask(token)], [["started", "failed", "succeeded"], "b:ann"]);
    });
  });
});

test("an issuer that is taken away is forgotten, but not while requests may have it", async () => {
  await withIssuers(async (first, second) => {
    await follow(written([first, second], "a:"), async ({ ask, told, write, until, clock }) => {
      const token = await second.sign({ exp: 4102444800 });
      await ready(() => ask(token), "a:ann");
      write(written([first], "b:"));
      await until(2);
      assert.equal(await ask(token), undefined);
      clock.advance(59_000);
      assert.equal(told.length, 2);
      clock.advance(1000);
      assert.deepEqual(told.slice(2), [second.url]);
    });
  });
});

test("a file that goes leaves all as it was, and is told at each poll", async () => {
  await withIssuers(async (first) => {
    await follow(written([first], "a:"), async ({ ask, told, until, clock }) => {
      const token = await first.sign({ exp: 4102444800 });
      await ready(() => ask(token), "a:ann");
      rmSync(join(directory, `file-${files - 1}`));
      clock.advance(60_000);
      await until(2);
      assert.deepEqual([told[1], await ask(token)], ["failed", "a:ann"]);
    });
  });
});
