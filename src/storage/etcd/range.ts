/** Reads ranges of keys in pages, whose bytes are limited. */
import type { Range, RangeOptions, Stored } from "../contract.ts";
import type { KeyValue, RangeRequest, RangeResponse } from "./api/messages.ts";
import { afterKey, type Keys } from "./keys.ts";
import { PageSize, pageBytes } from "./page-size.ts";

export interface RangeSource {
  readonly keys: Keys;
  /** @throws errors of the store */
  read(request: RangeRequest): Promise<RangeResponse>;
  storedOf(kv: KeyValue): Stored;
}

/**
 * Reads the keys with the prefix, all at one revision. With a limit, it ends with the first page
 * after which the values have {@link pageBytes}.
 * @throws errors of the store
 */
export async function readRange(
  { keys, read, storedOf }: RangeSource,
  prefix: string,
  { after, limit = Number.POSITIVE_INFINITY, revision, keysOnly }: RangeOptions,
): Promise<Range> {
  const { key: first, rangeEnd } = keys.rangeOf(prefix);
  const bytesMax = limit === Number.POSITIVE_INFINITY ? limit : pageBytes;
  const size = new PageSize();
  const entries: Stored[] = [];
  let bytes = 0;
  let key = after === undefined || after < prefix ? first : afterKey(keys.toEtcd(after));
  let at = revision;
  for (;;) {
    const max = Math.min(size.keys, limit - entries.length);
    const {
      header,
      kvs = [],
      more,
    } = await read({
      key,
      range_end: rangeEnd,
      limit: max,
      ...(at !== undefined && { revision: at }),
      ...(keysOnly && { keys_only: true }),
    });
    at ??= header.revision;
    for (const kv of kvs) entries.push(storedOf(kv));
    const pageLength = kvs.reduce((sum, { value }) => sum + value.length, 0);
    size.observe(kvs.length, pageLength);
    bytes += pageLength;
    const last = kvs.at(-1);
    if (!more || last === undefined || entries.length >= limit || bytes >= bytesMax)
      return { entries, revision: at, more };
    key = afterKey(last.key);
  }
}
