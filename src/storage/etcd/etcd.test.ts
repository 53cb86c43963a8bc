import { after, test } from "node:test";
import { type EtcdCluster, etcdOptions, skipWithoutEtcd, startEtcd } from "../../../test/support/etcd.ts";
import type { Open } from "../../../test/support/storage-suite.ts";
import { storageContract } from "../contract.suite.ts";
import { type EtcdOptions, openEtcdStorage } from "./etcd-storage.ts";

const clusters: EtcdCluster[] = [];
after(() => Promise.all(clusters.map((cluster) => cluster.close())));

/** Starts a cluster for each store, because the tests expect its first revisions. */
const openWith =
  (options: Partial<EtcdOptions>): Open =>
  async ({ valueBytesMax }) => {
    const cluster = await startEtcd();
    clusters.push(cluster);
    const storage = await openEtcdStorage({ ...etcdOptions, servers: cluster.urls, valueBytesMax, ...options });
    const close = storage.close.bind(storage);
    storage.close = async () => {
      await close();
      await cluster.close();
    };
    return { storage, reopen: undefined };
  };

const stores: [name: string, options: Partial<EtcdOptions>][] = [
  ["etcd", {}],
  ["etcd with one watch for all logs, as old members need it", { answersProgress: () => false }],
];
for (const [name, options] of stores) {
  if (skipWithoutEtcd === false) storageContract(name, openWith(options));
  else test(`the storage contract with ${name}`, { skip: skipWithoutEtcd }, () => {});
}
