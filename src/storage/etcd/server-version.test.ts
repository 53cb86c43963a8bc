import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  etcdOptions,
  oldEtcdProgram,
  skipWithoutEtcd,
  skipWithoutOldEtcd,
  startEtcd,
} from "../../../test/support/etcd.ts";
import { openEtcdStorage } from "./etcd-storage.ts";
import { answersProgress } from "./server-version.ts";

const versions: [members: string[], answers: boolean][] = [
  [["3.4.30"], false],
  [["3.4.31"], true],
  [["3.5.0"], false],
  [["3.5.12"], false],
  [["3.5.13"], true],
  [["3.6.0-rc.3"], true],
  [["3.3.27"], false],
  [["2.3.8"], false],
  [["4.0.0"], true],
  [["Not provided"], false],
  [["3"], false],
  [[""], false],
  [["3.6.8", "3.6.8", "3.5.13"], true],
  [["3.6.8", "3.4.23", "3.6.8"], false],
  [["3.4.23", "3.6.8"], false],
  [[], false],
];
for (const [members, answers] of versions) {
  const want = answers ? "are relied on" : "are not relied on";
  test(`progress requests of members ${JSON.stringify(members)} ${want}`, () =>
    assert.equal(answersProgress(members.map((version) => ({ version }))), answers));
}

describe("an old member", { skip: skipWithoutOldEtcd || skipWithoutEtcd }, () => {
  for (const [what, order] of [
    ["alone", ["old"]],
    ["before a new one", ["old", "new"]],
    ["after a new one", ["new", "old"]],
  ] as const)
    test(`${what} lets reads go to the store`, async (t) => {
      const clusters = { old: await startEtcd({ program: oldEtcdProgram }), new: await startEtcd() };
      t.after(() => Promise.all(Object.values(clusters).map((cluster) => cluster.close())));
      const servers = order.map((name) => clusters[name].urls[0] as string);
      const storage = await openEtcdStorage({ ...etcdOptions, servers });
      t.after(() => storage.close());
      assert.equal(storage.reportsProgress, false);
    });
});
