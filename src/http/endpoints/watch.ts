import { ApiError } from "../../apimachinery/errors.ts";
import { randomFraction } from "../../apimachinery/random.ts";
import type { Resolved, ResourceStore } from "../../catalog/contract.ts";
import type { RegistryContext } from "../../registry/contract.ts";
import { planWatch } from "../../registry/watch.ts";
import { answerHeaders } from "../../request/answer.ts";
import type { BodyStream } from "../../request/exchange.ts";
import { type ListOptions, parseListOptions } from "../../request/list-options.ts";
import type { RequestContext } from "../contract.ts";
import { eventForm } from "./event-form.ts";
import { namespaceOf } from "./get.ts";
import type { OpenWatches } from "./open-watches.ts";
import { startWatch, type WatchStreamOptions } from "./watch-stream.ts";
import { openWatchSocket } from "./watch-web-socket.ts";

/**
 * Serves a watch: `?watch=1` on a collection or an object, and the older paths under `/watch/`;
 * over HTTP or a WebSocket. Returns when it has started.
 */
export async function watchObjects(
  context: RequestContext,
  registry: RegistryContext,
  watches: OpenWatches,
): Promise<void> {
  const requested = context.resolved as Resolved;
  const { converted } = requested;
  const resolved = converted?.shown ?? requested;
  const { cache, uncached } = resolved.resource.store as ResourceStore;
  const options = parseListOptions(context.info.query);
  const [, name = ""] = context.info.parts;
  const initialEvents = registry.gates.enabled("WatchList");
  const limit = { clock: registry.clock, timeoutMs: timeoutMs(options, registry, watches) };
  const plan = await planWatch(resolved.resource, {
    namespace: namespaceOf(context),
    name,
    options,
    initialEvents,
    converted: converted !== undefined,
    limit,
  });
  const reachError = plan.startError ?? (await unreachable(() => cache.loadEventsAfter(plan.from)));
  if (context.exchange.closed) return;
  const form = eventForm(context, resolved, registry.clock);
  const stream = await openStream(context, form.framing.contentType);
  if (stream === undefined) return;
  const shared = watches.encoder(resolved, form, plan.scope);
  const { group, resource } = resolved.resource.definition;
  const startError = reachError ?? watches.expiredAt(plan.from);
  const started: WatchStreamOptions = {
    stream,
    cache,
    ...limit,
    plan,
    encoder: shared.encoder,
    memory: watches.memory,
    turn: context.turn,
    sent: watches.counterOf(group, resolved.version.version, resource),
    started: () => context.execution?.watchStarted(),
    listed: () => reportListed(context, watches),
    cutOff: () => watches.cutOff(group, resource),
    bookmarks: options.allowWatchBookmarks && !uncached,
    firstDiffers: context.representation.shape.kind === "table",
    startError,
    converted,
    exchange: context.exchange,
  };
  const watch = startWatch(context.probe?.watch(started) ?? started);
  const forget = watches.add({ from: plan.from, ...watch });
  const isOfShard = plan.scope.excluded !== undefined && startError === undefined;
  const endShardWatch = isOfShard ? cache.counts.startShardWatch() : undefined;
  context.exchange.onClose(() => {
    watch.end();
    forget();
    endShardWatch?.();
    shared.release();
  });
}

function reportListed(context: RequestContext, watches: OpenWatches): void {
  context.exchange.entered?.("watch listed");
  watches.listed(context);
}

/** @returns undefined when a WebSocket handshake was rejected */
async function openStream(context: RequestContext, contentType: string): Promise<BodyStream | undefined> {
  const { exchange } = context;
  if (exchange.webSocket !== undefined) return openWatchSocket(exchange, exchange.webSocket);
  return exchange.stream(200, answerHeaders(context, contentType));
}

/** @returns the 410 to send as an event, as upstream, because the watch has started by then */
async function unreachable(reach: () => Promise<void>): Promise<ApiError | undefined> {
  try {
    await reach();
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status.code === 410) return error;
    throw error;
  }
}

/** A random timeout, so that clients do not reconnect at the same time. */
function timeoutMs(
  { timeoutSeconds = 0 }: ListOptions,
  registry: RegistryContext,
  { timeoutMinMs }: OpenWatches,
): number {
  if (timeoutSeconds !== 0) return Math.min(Math.max(0, timeoutSeconds) * 1000, timeoutMaxMs);
  return Math.min(timeoutMinMs * (1 + randomFraction(registry.random)), timeoutMaxMs);
}

/** The maximum of timers. */
const timeoutMaxMs = 2 ** 31 - 1;
