/** The contract of the discovery documents of other servers. */
import type { RemoteVersionDiscovery } from "../../../catalog/discovery.ts";

/** The group versions that other servers serve, as they were last fetched. */
export interface RemoteDiscovery {
  /** Incremented by every change. */
  readonly generation: number;
  /** @returns undefined until the first request to the server of a new APIService has ended */
  find(group: string, version: string): RemoteVersionDiscovery | undefined;
}
