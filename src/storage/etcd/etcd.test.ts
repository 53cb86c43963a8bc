import { after, test } from "node:test";
import { type EtcdCluster, etcdOptions, skipWithoutEtcd, startEtcd } from "../../../test/support/etcd.ts";
import type { Open } from "../../../test/support/storage-suite.ts";
import { storageContract } from "../contract.suite.ts";
import { openEtcdStorage } from "./etcd-storage.ts";

const clusters: EtcdCluster[] = [];
after(() => Promise.all(clusters.map((cluster) => cluster.close())));

/** Starts a cluster for each store, because the tests expect its first revisions. */
const open: Open = async ({ valueBytesMax }) => {
  const cluster = await startEtcd();
  clusters.push(cluster);
  const storage = await openEtcdStorage({ ...etcdOptions, servers: cluster.urls, valueBytesMax });
  const close = storage.close.bind(storage);
  storage.close = async () => {
    await close();
    await cluster.close();
  };
  return { storage, reopen: undefined };
};

if (skipWithoutEtcd === false) storageContract("etcd", open);
else test("the storage contract with etcd", { skip: skipWithoutEtcd }, () => {});
