import assert from "node:assert/strict";
import { rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { catalogWithRules } from "../../../test/support/builtin-catalog.ts";
import { inGoldenDirectory, messageOf } from "../../../test/support/golden-directory.ts";
import { openManifests } from "./open-manifests.ts";

const kind = "ValidatingWebhookConfiguration";
const catalog = catalogWithRules();
const manifest = (name: string): string =>
  `apiVersion: admissionregistration.k8s.io/v1\nkind: ${kind}\nmetadata: {name: ${name}}\n`;

/** A change of the directory, whether the load is counted, and the names of the objects then. */
type Step = readonly [
  change: (directory: string) => Promise<void>,
  counted: "loaded" | "failed" | "nothing",
  names: readonly string[],
];

/** Replaces the file at once: a reload can be reading it. */
const write =
  (file: string, text: string) =>
  async (directory: string): Promise<void> => {
    await writeFile(join(directory, "new"), text);
    await rename(join(directory, "new"), join(directory, file));
  };

const rows: [what: string, steps: readonly Step[]][] = [
  [
    "uses new, changed and fewer files",
    [
      [write("b.yaml", manifest("b.static.k8s.io")), "loaded", ["a.static.k8s.io", "b.static.k8s.io"]],
      [write("a.yaml", manifest("c.static.k8s.io")), "loaded", ["b.static.k8s.io", "c.static.k8s.io"]],
      [(directory) => rm(join(directory, "a.yaml")), "loaded", ["b.static.k8s.io"]],
      [(directory) => rm(join(directory, "b.yaml")), "loaded", []],
    ],
  ],
  [
    "keeps the objects while a file is invalid, and counts each attempt",
    [
      [write("b.yaml", manifest("b")), "failed", ["a.static.k8s.io"]],
      [async () => undefined, "failed", ["a.static.k8s.io"]],
      [write("b.yaml", manifest("b.static.k8s.io")), "loaded", ["a.static.k8s.io", "b.static.k8s.io"]],
    ],
  ],
  [
    "keeps the objects when the directory is removed",
    [[(directory) => rm(directory, { recursive: true }), "failed", ["a.static.k8s.io"]]],
  ],
  [
    "does not count a load without changes",
    [
      [write("notes.txt", "text"), "nothing", ["a.static.k8s.io"]],
      [write("a.yaml", manifest("a.static.k8s.io")), "nothing", ["a.static.k8s.io"]],
      [write("a.yaml", manifest("b.static.k8s.io")), "loaded", ["b.static.k8s.io"]],
    ],
  ],
];

for (const [what, steps] of rows) {
  test(`static manifests: ${what}`, () =>
    inGoldenDirectory({ files: { "m/a.yaml": manifest("a.static.k8s.io") } }, async (parent) => {
      const directory = join(parent, "m");
      const polls = pollsOnDemand();
      const seen = events();
      const manifests = await openManifests({
        plugin: "ValidatingAdmissionWebhook",
        directory,
        catalog,
        clock: polls,
        logger: { info: () => undefined, error: () => undefined },
        observer: { loaded: () => seen.add("loaded"), failed: () => seen.add("failed") },
      });
      assert.deepEqual(await seen.next(), "loaded");
      manifests.onChange(() => seen.add("changed"));
      for (const [change, counted, names] of steps) {
        await change(directory);
        polls.run();
        if (counted === "nothing") continue;
        assert.equal(await seen.next(), counted);
        if (counted === "loaded") assert.equal(await seen.next(), "changed");
        assert.deepEqual(
          manifests.current(kind).map(({ metadata }) => metadata.name),
          names,
        );
      }
      manifests.close();
      assert.equal(polls.canceled(), 1);
    }));
}

test("static manifests: a start fails with the error of the first file", () =>
  inGoldenDirectory({ files: { "a.yaml": manifest("a") } }, async (directory) => {
    const open = (): Promise<unknown> =>
      openManifests({
        plugin: "ValidatingAdmissionWebhook",
        directory,
        catalog,
        clock: pollsOnDemand(),
        logger: { info: () => undefined, error: () => undefined },
        observer: { loaded: () => undefined, failed: () => undefined },
      });
    const problem = `error loading /dir/a.yaml: "a" in file "/dir/a.yaml" must have a name ending with ".static.k8s.io"`;
    assert.equal(
      await messageOf(open, directory),
      `failed to initialize admission plugin "ValidatingAdmissionWebhook": failed to load static webhook manifests from "/dir": ${problem}`,
    );
  }));

/** Polls run on demand, and events of the file system have no effect. */
function pollsOnDemand(): { after(delayMs: number, run: () => void): () => void; run(): void; canceled(): number } {
  let poll = (): void => undefined;
  let canceled = 0;
  return {
    after(delayMs, run) {
      if (delayMs < 60_000) return () => undefined;
      poll = run;
      return () => canceled++;
    },
    run: () => poll(),
    canceled: () => canceled,
  };
}

/** A queue of events that a test waits for. */
function events(): { add(event: string): void; next(): Promise<string> } {
  const queue: string[] = [];
  let wake = (): void => undefined;
  return {
    add(event) {
      queue.push(event);
      wake();
    },
    async next() {
      while (queue.length === 0) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return queue.shift() as string;
    },
  };
}
