/** The contract of the discovery documents of other servers. */

/** A group version that another server serves, as in aggregated discovery. */
export interface RemoteVersionDiscovery {
  /**
   * Objects of the type APIResourceDiscovery in their wire form; empty if the server did not list
   * the group version.
   */
  readonly resources: readonly object[];
  /** `Stale` when the last request to the server failed. */
  readonly freshness: "Current" | "Stale";
}

/** The group versions that other servers serve, as they were last fetched. */
export interface RemoteDiscovery {
  /** Incremented by every change. */
  readonly generation: number;
  /** @returns undefined until the first request to the server of a new APIService has ended */
  find(group: string, version: string): RemoteVersionDiscovery | undefined;
}
