/** Creates ConfigMaps for tests of watches, and counts the watches of them. */
import assert from "node:assert/strict";
import type { RawClient } from "./raw-client.ts";

/** The path of the collection. */
export const configMaps = "/api/v1/namespaces/default/configmaps";

interface WatchedConfigMaps {
  /** Returns the resourceVersion of the new ConfigMap. */
  create(name: string, data?: Readonly<Record<string, string>>): Promise<string>;
  /** Returns the number of watches in the metrics. */
  openWatches(): Promise<number>;
}

/** @param client may write ConfigMaps and read metrics */
export function watchedConfigMaps(client: RawClient): WatchedConfigMaps {
  return {
    async create(name, data = {}) {
      const { status, text, body } = await client.send({
        method: "POST",
        path: configMaps,
        body: { metadata: { name }, data },
      });
      assert.equal(status, 201, text);
      return body.metadata.resourceVersion;
    },
    async openWatches() {
      const { text } = await client.send({ path: "/metrics" });
      const pattern = /^apiserver_longrunning_requests\{verb="WATCH"[^}]*resource="configmaps"[^}]*\} (\d+)$/m;
      return Number(pattern.exec(text)?.[1] ?? 0);
    },
  };
}
