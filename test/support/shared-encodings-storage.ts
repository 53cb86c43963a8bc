/**
 * A store as an etcd is that is shared with kube-apiserver: it keeps the form of objects for shared
 * stores, and no seals.
 */
import type { DerivedWrite, Storage, Stored, Write } from "../../src/storage/contract.ts";

/** @param storage an embedded engine, which keeps what the result stores */
export function sharedEncodingsStorage(storage: Storage): Storage {
  const shared: Partial<Storage> = {
    commit: (checks, writes) => storage.commit(checks, writes.map(keptWrite)),
  };
  return new Proxy(storage, {
    get(target, name) {
      if (Object.hasOwn(shared, name)) return Reflect.get(shared, name);
      const member = Reflect.get(target, name);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

function keptWrite(write: Write | DerivedWrite): Write | DerivedWrite {
  if (!("derive" in write)) {
    const { key, value, shared, ttlSeconds } = write;
    return { key, value: shared ?? value, ...(ttlSeconds !== undefined && { ttlSeconds }) };
  }
  const derive = (newest: Stored | undefined) => {
    const derived = write.derive(newest);
    return derived && { value: derived.shared ?? derived.value };
  };
  return { key: write.key, derive };
}
