/** Reloads of a changed configuration file. */
import assert from "node:assert/strict";
import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { type ManualClock, manualClock } from "../../../test/support/manual-clock.ts";
import { discoveryPath, startTokenIssuer, type TokenIssuer } from "../../../test/support/token-issuer.ts";
import { eventually, until } from "../../../test/support/until.ts";
import { type FollowedAuthenticators, followAuthenticators } from "./follow-configuration.ts";
import { authenticationSettings } from "./settings.ts";

const directory = mkdtempSync(join(tmpdir(), "coxswain-follow-"));
after(() => rmSync(directory, { recursive: true }));
let files = 0;

function configurationFile(issuers: readonly TokenIssuer[], prefix: string, more: object = {}): string {
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
  /** `started`, `succeeded`, `failed`, and the URLs of removed issuers. */
  readonly events: string[];
  write(content: string): void;
  /** Authenticates a token. @returns the user name, or `rejected` */
  login(token: string): Promise<string | undefined>;
  /** Advances the clock until the number of events is reached. */
  until(count: number, stepMs?: number): Promise<void>;
}

async function follow(content: string, run: (followed: Followed) => Promise<void>): Promise<void> {
  const file = join(directory, `file-${files++}`);
  writeFileSync(file, content);
  const clock = manualClock(Date.now());
  const events: string[] = [];
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
      started: () => events.push("started"),
      succeeded: () => events.push("succeeded"),
      failed: () => events.push("failed"),
    },
    forget: (issuers) => events.push(...issuers),
  });
  try {
    await run({
      ...followed,
      clock,
      events,
      write(text) {
        writeFileSync(`${file}.new`, text);
        renameSync(`${file}.new`, file);
      },
      async login(token) {
        const answer = await followed.authenticate(token, ["api"]);
        if (answer === undefined) return undefined;
        return "problems" in answer ? "rejected" : answer.user.name;
      },
      async until(count, stepMs = 100) {
        await eventually(`${count} events`, () => {
          if (events.length >= count) return true;
          clock.advance(stepMs); // The file must remain unchanged for a moment.
          return false;
        });
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

async function ready(login: () => Promise<string | undefined>, want: string): Promise<void> {
  await until(async () => (await login()) === want);
}

test("applies valid changes and ignores invalid ones", async () => {
  await withIssuers(async (first, second) => {
    await follow(configurationFile([first], "a:"), async ({ login, events, write, until }) => {
      const token = await first.sign({ exp: 4102444800 });
      await ready(() => login(token), "a:ann");
      write(configurationFile([first, second], "b:"));
      await until(2);
      assert.deepEqual([await login(token), await login(await second.sign({ exp: 4102444800 }))], ["b:ann", "b:ann"]);
      const sa = configurationFile([{ ...first, url: "https://sa" }], "c:");
      for (const bad of [
        "",
        "{",
        "[]",
        configurationFile([first], "c:").replace("jwt", "jwd"),
        sa,
        configurationFile([first], "c:", { anonymous: { enabled: true } }),
      ]) {
        const before = events.length;
        write(bad);
        await until(before + 1);
        assert.equal(await login(token), "b:ann");
      }
      assert.deepEqual(events, ["started", "succeeded", ...Array.from({ length: 6 }, () => "failed")]);
      write(configurationFile([first], "d:"));
      await until(9);
      assert.equal(await login(token), "d:ann");
    });
  });
});

test("uses the old authenticators until discovery succeeds; fails after a minute, then retries", async () => {
  await withIssuers(async (first, second) => {
    second.replies.set(discoveryPath, (response) => response.writeHead(503).end());
    await follow(configurationFile([first], "a:"), async ({ login, events, write, until, clock }) => {
      const token = await first.sign({ exp: 4102444800 });
      await ready(() => login(token), "a:ann");
      write(configurationFile([first, second], "b:"));
      await eventually("the second issuer is asked", () => {
        if (second.asked(discoveryPath) > 0) return true;
        clock.advance(100);
        return false;
      });
      assert.equal(await login(token), "a:ann");
      await until(2, 2000);
      assert.deepEqual([events, await login(token)], [["started", "failed"], "a:ann"]);
      second.replies.delete(discoveryPath);
      await until(3, 2000);
      assert.deepEqual([events, await login(token)], [["started", "failed", "succeeded"], "b:ann"]);
    });
  });
});

test("closes the authenticator of a removed issuer after a minute", async () => {
  await withIssuers(async (first, second) => {
    await follow(configurationFile([first, second], "a:"), async ({ login, events, write, until, clock }) => {
      const token = await second.sign({ exp: 4102444800 });
      await ready(() => login(token), "a:ann");
      write(configurationFile([first], "b:"));
      await until(2);
      assert.equal(await login(token), undefined);
      clock.advance(59_000);
      assert.equal(events.length, 2);
      clock.advance(1000);
      assert.deepEqual(events.slice(2), [second.url]);
    });
  });
});

test("keeps the configuration when the file is deleted, and reports each poll as failed", async () => {
  await withIssuers(async (first) => {
    await follow(configurationFile([first], "a:"), async ({ login, events, until, clock }) => {
      const token = await first.sign({ exp: 4102444800 });
      await ready(() => login(token), "a:ann");
      rmSync(join(directory, `file-${files - 1}`));
      clock.advance(60_000);
      await until(2);
      assert.deepEqual([events[1], await login(token)], ["failed", "a:ann"]);
    });
  });
});
