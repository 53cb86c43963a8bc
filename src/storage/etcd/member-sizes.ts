/**
 * Reports the sizes of the members' databases. Source: `startDBSizeMonitorPerEndpoint` in
 * `k8s.io/apiserver@v0.36.0/pkg/storage/storagebackend/factory/etcd3.go`.
 */
import type { Clock } from "../../apimachinery/clock.ts";
import type { StorageObserver } from "../contract.ts";
import type { EtcdClient } from "./api/client.ts";

interface MemberSizesOptions {
  readonly servers: readonly string[];
  readonly clock: Clock;
  readonly observer?: Pick<StorageObserver, "memberSize">;
  /** 0: never. */
  readonly sizePollMs: number;
  readonly healthTimeoutMs: number;
}

/** @returns stops it */
export function pollMemberSizes(
  client: Pick<EtcdClient, "statusAt">,
  { servers, clock, observer, sizePollMs, healthTimeoutMs }: MemberSizesOptions,
): () => void {
  if (sizePollMs === 0 || observer === undefined) return () => {};
  let stopped = false;
  let cancel = (): void => {};
  const report = async (url: string, at: number): Promise<void> => {
    const status = await client.statusAt(at, healthTimeoutMs).catch(() => undefined);
    if (!stopped) observer.memberSize(url, status?.dbSize);
  };
  const poll = async (): Promise<void> => {
    await Promise.all(servers.map(report));
    if (!stopped) cancel = clock.after(sizePollMs, () => void poll());
  };
  void poll();
  return () => {
    stopped = true;
    cancel();
  };
}
