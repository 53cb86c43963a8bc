/**
 * Compares the documents of this server and of other servers with those of kube-apiserver
 * (tools/golden/server/aggregation-documents.ts).
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { before, test } from "node:test";
import { aggregationReads } from "../../../test/support/aggregation-reads.ts";
import { builtinCatalog } from "../../../test/support/builtin-catalog.ts";
import { customThing } from "../../../test/support/custom-thing.ts";
import { extensionServers, extensionServices } from "../../../test/support/extension-servers.ts";
import { manualClock } from "../../../test/support/manual-clock.ts";
import { ask } from "../../../test/support/request-context.ts";
import { remoteApiService, stubApiServices, stubBackends } from "../../../test/support/stub-backends.ts";
import { until } from "../../../test/support/until.ts";
import type { Catalog, ResourceDefinition } from "../../catalog/contract.ts";
import { openRemoteDiscovery } from "../../forwarding/aggregator/discovery/remote-discovery.ts";
import { openRemoteOpenApi } from "../../forwarding/aggregator/openapi/remote-openapi.ts";
import type { RequestContext } from "../contract.ts";
import { createDiscovery } from "./discovery.ts";
import { createOpenApi } from "./openapi.ts";

interface Row {
  readonly path: string;
  readonly accept: string;
  readonly status: number;
  readonly picked: unknown;
}

const rows: Row[] = readFileSync(join(import.meta.dirname, "testdata/aggregation-documents.jsonl"), "utf8")
  .trimEnd()
  .split("\n")
  .map((line) => JSON.parse(line));

/** Their probes failed when the rows were recorded. */
const unavailable = [
  "v1beta1.fast.example.com",
  "v1.failing.example.com",
  "v1.hanging.example.com",
  "v1.missing.example.com",
];

const builtin = builtinCatalog();
const model = builtin.findResource("", "configmaps")?.definition as ResourceDefinition;
const thing = customThing(model);
const discoveredVerbs = ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"];
const mixed: ResourceDefinition = {
  ...thing,
  shortNames: [],
  versions: thing.versions.map((version) => ({ ...version, discoveredVerbs })),
  group: "mixed.example.com",
  resource: "mixes",
  singular: "mix",
  kind: "Mix",
  listKind: "MixList",
};

let handlerOf: (path: string) => (context: RequestContext) => void | Promise<void>;

before(async () => {
  const [clock, apiServices, backends] = [manualClock(), stubApiServices(), stubBackends(extensionServers)];
  for (const { name, server, ...priorities } of extensionServices) {
    apiServices.put(remoteApiService(name, server, { ...priorities, isAvailable: !unavailable.includes(name) }));
  }
  const ignore = (): void => undefined;
  const options = { apiServices, backends, clock, logger: { info: ignore, warn: ignore, error: ignore } };
  const [remote, remoteOpenApi] = [openRemoteDiscovery(options), openRemoteOpenApi(options)];
  clock.advance(1000);
  // The documents are compressed in the thread pool.
  await until(() => remoteOpenApi.documents().length >= 2 && remoteOpenApi.entries().size >= 3);
  const catalog: Pick<Catalog, "definitions" | "isBuiltinGroup" | "generation"> = {
    generation: 1,
    definitions: () => [...builtin.definitions(), mixed],
    isBuiltinGroup: (group) => builtin.isBuiltinGroup(group),
  };
  const discovery = createDiscovery({
    catalog: catalog as Catalog,
    serverAddress: () => "",
    paths: [],
    apiServices,
    remote,
  });
  const forward = async (): Promise<void> => assert.fail("the recorded documents are this server's");
  const openApi = createOpenApi({
    catalog: catalog as Catalog,
    remote: {
      get generation() {
        return remoteOpenApi.generation;
      },
      documents: () => remoteOpenApi.documents(),
      entries: () => remoteOpenApi.entries(),
      forward,
    },
  });
  handlerOf = (path) =>
    path.startsWith("/openapi/v2")
      ? openApi.v2
      : path.startsWith("/openapi/v3")
        ? openApi.v3
        : path.startsWith("/apis")
          ? discovery.apis
          : discovery.root;
});

for (const [index, { path, accept, status, picked }] of rows.entries()) {
  test(`GET ${path} as ${accept}`, async () => {
    const answer = await ask(handlerOf(path), { path, headers: { accept } });
    assert.equal(answer.status, status);
    const pick = aggregationReads[index]?.pick as (document: unknown) => unknown;
    assert.deepEqual(JSON.parse(JSON.stringify(pick(JSON.parse(answer.body.toString())))), picked);
  });
}
