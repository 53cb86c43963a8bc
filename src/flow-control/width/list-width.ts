/**
 * Estimates the seats of lists, and of watches that begin with existing objects.
 * Source: k8s.io/apiserver@v0.36.0/pkg/util/flowcontrol/request/list_work_estimator.go.
 */
import { ApiError } from "../../apimachinery/errors.ts";
import { type ListOptions, parseListOptions } from "../../request/list-options.ts";
import type { RequestInfo } from "../../request/request-info.ts";

/** What is known about the objects of a resource. */
export interface ObjectStats {
  readonly count: number;
  /** 0 if it is unknown. */
  readonly averageBytes: number;
}

interface ListWidthOptions {
  /** The gate SizeBasedListCostEstimate: seats depend on bytes; otherwise, on the number of objects. */
  readonly bySize: boolean;
  /** Whether the watch cache answers consistent lists. */
  readonly consistentFromCache: boolean;
  /** The most seats of a request at the priority level; 0 if the level sets no limit. */
  readonly seatsMax: number;
  /** Undefined for resources that the server does not store. */
  readonly stats: ObjectStats | undefined;
}

const objectsPerSeat = 100;
const bytesPerSeat = 100_000;
/** The most that a list from the cache counts, because it is sent in pieces. */
const cachedBytesMax = 1_000_000;
/** The size of objects whose size is unknown: the limit of etcd. */
const objectBytesMax = 1_500_000;
/** The most seats of a list, by size and by number. */
const listSeatsMax = { bySize: 100, byCount: 10 };

/** @returns whole seats, at least one */
export function listWidth(info: Pick<RequestInfo, "verb" | "name" | "query">, options: ListWidthOptions): number {
  const { bySize, seatsMax, stats } = options;
  const limit = bySize ? listSeatsMax.bySize : listSeatsMax.byCount;
  const most = seatsMax === 0 ? limit : Math.min(seatsMax, limit);
  const list = readOptions(info.query);
  if (list === undefined) return most; // The endpoint rejects it.
  if (info.verb === "watch" && !sendsObjects(list)) return 1;
  if (stats === undefined) return 1;
  const fromCache = info.verb === "watch" || isFromCache(list, options.consistentFromCache);
  const request = { list, fromCache, isSingle: info.name !== "" };
  const seats = bySize ? bytesOf(stats, request) / bytesPerSeat : objectsOf(stats, request) / objectsPerSeat;
  return Math.max(1, Math.min(most, Math.ceil(seats)));
}

interface Listing {
  readonly list: ListOptions;
  readonly fromCache: boolean;
  /** It selects one object by its name. */
  readonly isSingle: boolean;
}

function readOptions(query: URLSearchParams): ListOptions | undefined {
  try {
    return parseListOptions(query);
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function sendsObjects({ sendInitialEvents, resourceVersion }: ListOptions): boolean {
  return sendInitialEvents === true || resourceVersion === "" || resourceVersion === "0";
}

/**
 * Whether upstream answers the list from its watch cache.
 * Source: k8s.io/apiserver@v0.36.0/pkg/storage/cacher/delegator/interface.go.
 */
function isFromCache(
  { resourceVersion, resourceVersionMatch, continueToken, limit }: ListOptions,
  consistentFromCache: boolean,
): boolean {
  if (resourceVersionMatch !== "") return resourceVersionMatch === "NotOlderThan";
  if (continueToken !== "") return false;
  if (limit > 0 && resourceVersion !== "" && resourceVersion !== "0") return false;
  return resourceVersion !== "" || consistentFromCache;
}

const isSelective = ({ fieldSelector, labelSelector }: ListOptions): boolean =>
  fieldSelector !== "" || labelSelector !== "";

function limitedCount({ limit }: ListOptions, count: number): number {
  return limit > 0 ? Math.min(limit, count) : count;
}

function objectsOf({ count }: ObjectStats, { list, fromCache, isSingle }: Listing): number {
  if (isSingle) return 1;
  if (fromCache) return count;
  const limited = limitedCount(list, count);
  return isSelective(list) ? count + limited : 2 * limited;
}

function bytesOf({ count, averageBytes }: ObjectStats, { list, fromCache, isSingle }: Listing): number {
  const limited = limitedCount(list, count);
  const loaded = !fromCache && isSelective(list) ? Math.max(limited, Math.floor(count / 2)) : limited;
  const size = averageBytes <= 0 && count !== 0 ? objectBytesMax : averageBytes;
  const bytes = (isSingle ? 1 : loaded) * size;
  return fromCache ? Math.min(bytes, cachedBytesMax) : bytes;
}
