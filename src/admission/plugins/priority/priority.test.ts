import assert from "node:assert/strict";
import { after, test } from "node:test";
import { openMemoryRegistry, type Place } from "../../../../test/support/memory-registry.ts";
import { priority } from "./priority.ts";

const opened = await openMemoryRegistry({ plugins: (catalog) => [priority({ catalog, enabled: () => false })] });
after(() => opened.close());
const classes: Place = ["scheduling.k8s.io/priorityclasses", ""];
const create = (name: string, globalDefault: boolean): Promise<unknown> =>
  opened.create(classes, { metadata: { name }, value: 1, globalDefault });
const markDefault = (name: string, globalDefault: boolean): Promise<void> =>
  opened.change(classes, name, (object) => {
    object.globalDefault = globalDefault;
  });
const taken = (name: string): { message: string } => ({
  message: `priorityclasses.scheduling.k8s.io "${name}" is forbidden: PriorityClass first is already marked as default. Only one default can exist`,
});

test("at most one PriorityClass is the default", async () => {
  await create("other", false);
  await create("first", true);
  await assert.rejects(create("second", true), taken("second"));
  await assert.rejects(markDefault("other", true), taken("other"));
  await markDefault("first", true); // Marking the default again is allowed.
  await markDefault("first", false);
  await markDefault("other", true);
});
