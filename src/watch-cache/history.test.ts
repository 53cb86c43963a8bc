import assert from "node:assert/strict";
import { test } from "node:test";
import type { LogEvent, Storage, Stored } from "../storage/contract.ts";
import type { Entry } from "./contract.ts";
import { readHistory } from "./history.ts";

const stored = (revision: number): Stored => ({ key: "/a/x", revision, value: Buffer.from("{}") });

test("reads the previous state during the delivery of the event, because the store may drop it afterwards", async () => {
  let delivering = false;
  const event: LogEvent = {
    type: "put",
    key: "/a/x",
    revision: 3,
    previousRevision: 2,
    at: 0,
    value: Buffer.from("{}"),
    previous() {
      assert.ok(delivering, "too late");
      return stored(2);
    },
  };
  const storage = {
    log(_prefix: string, _from: number, subscriber: Parameters<Storage["log"]>[2]) {
      queueMicrotask(() => {
        delivering = true;
        subscriber.events([event]);
        delivering = false;
        subscriber.progress(3);
      });
      return { close() {} };
    },
  } as unknown as Storage;
  const entryOf = ({ key, revision }: Stored): Entry => ({ key, revision }) as Entry;
  const events = await readHistory({ storage, prefix: "/a/", entryOf }, { after: 2, to: 3, bytesMax: 1000 });
  assert.deepEqual(
    events?.map(({ type, revision, previous }) => [type, revision, previous?.revision]),
    [["MODIFIED", 3, 2]],
  );
});
