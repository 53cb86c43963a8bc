/** Builds the parts of discovery and OpenAPI that other servers have. */

import type { Clock } from "../apimachinery/clock.ts";
import type { Logger } from "../apimachinery/logger.ts";
import { type ApiServices, type Backends, isRemote, type RemoteApiService } from "../forwarding/aggregator/contract.ts";
import type { RemoteDiscovery } from "../forwarding/aggregator/discovery/contract.ts";
import type { OpenRemoteDiscovery } from "../forwarding/aggregator/discovery/remote-discovery.ts";
import type { RemoteOpenApi } from "../forwarding/aggregator/openapi/contract.ts";
import type { OpenRemoteOpenApi } from "../forwarding/aggregator/openapi/remote-openapi.ts";
import type { RequestState } from "../request/context.ts";
import type { Closers } from "./closers.ts";

interface DocumentOptions {
  readonly apiServices: ApiServices;
  readonly backends: Backends;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly closers: Closers;
  /** Answers a request with the response of a server. */
  forward(context: RequestState, remote: RemoteApiService): Promise<void>;
}

/** The documents of other servers. */
export interface AggregatedDocuments {
  readonly discovery: RemoteDiscovery;
  readonly openApi: RemoteOpenApi & Pick<DocumentOptions, "forward">;
}

/** Starts to fetch documents with the first remote APIService; servers without one load none of it. */
export function openAggregatedDocuments(options: DocumentOptions): AggregatedDocuments {
  const { apiServices, closers, forward } = options;
  let discovery: OpenRemoteDiscovery | undefined;
  let openApi: OpenRemoteOpenApi | undefined;
  let loading: Promise<void> | undefined;
  let closed = false;
  const load = async (): Promise<void> => {
    const [{ openRemoteDiscovery }, { openRemoteOpenApi }] = await Promise.all([
      import("../forwarding/aggregator/discovery/remote-discovery.ts"),
      import("../forwarding/aggregator/openapi/remote-openapi.ts"),
    ]);
    if (closed) return;
    discovery = openRemoteDiscovery(options);
    openApi = openRemoteOpenApi(options);
  };
  const endChanges = apiServices.onChange((_, next) => {
    if (next !== undefined && isRemote(next)) loading ??= load();
  });
  if (apiServices.hasRemotes) loading = load();
  closers.add(async () => {
    closed = true;
    endChanges();
    await loading;
    await Promise.all([discovery?.close(), openApi?.close()]);
  });
  return {
    discovery: {
      get generation() {
        return discovery?.generation ?? -1;
      },
      find: (group, version) => discovery?.find(group, version),
    },
    openApi: {
      get generation() {
        return openApi?.generation ?? -1;
      },
      documents: () => openApi?.documents() ?? [],
      entries: () => openApi?.entries() ?? new Map(),
      forward,
    },
  };
}
