/** Records all changes of the objects in the store, from etcd itself. */
import type { Storage, Subscription } from "../../../src/storage/contract.ts";
import { type EtcdOptions, openEtcdStorage } from "../../../src/storage/etcd/etcd-storage.ts";
import { namespace } from "./clients.ts";
import type { Change } from "./history.ts";

const prefix = `/registry/configmaps/${namespace}/`;

export interface Observer {
  /** In order. */
  readonly changes: readonly Change[];
  /** All changes up to this revision are known. */
  readonly revision: number;
  readonly storage: Storage;
  close(): Promise<void>;
}

/** Must start before the first object is created. @param store with the members, without faults in between */
export async function observe(store: EtcdOptions): Promise<Observer> {
  const storage = await openEtcdStorage(store);
  const changes: Change[] = [];
  let revision = 0;
  const subscription: Subscription = storage.log(prefix, await storage.current(), {
    events(batch) {
      for (const { type, key, revision: at, value } of batch) {
        if (type === "delete") changes.push({ key: key.slice(prefix.length), revision: at, state: undefined });
        else changes.push({ key: key.slice(prefix.length), revision: at, state: stateOf(value) });
      }
    },
    progress(seen) {
      revision = seen;
    },
    end(error) {
      if (error !== undefined) throw error;
    },
  });
  return {
    changes,
    get revision() {
      return revision;
    },
    storage,
    async close() {
      subscription.close();
      await storage.close();
    },
  };
}

function stateOf(value: Buffer): Change["state"] {
  const { metadata, data } = JSON.parse(value.toString());
  return { by: data.by, uid: metadata.uid, value: data.value ?? "" };
}
