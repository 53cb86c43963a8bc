/** Selects the objects of a shard. Source: KEP-5866. */
import { plainError } from "../apimachinery/errors.ts";
import type { ResourceStore } from "../catalog/contract.ts";
import { SelectorError } from "../lib/selectors/selector-error.ts";
import { isInShard, type ShardSelector } from "../lib/selectors/shard.ts";
import { shardHash } from "../lib/selectors/shard-hash.ts";
import type { ListOptions } from "../request/list-options.ts";
import type { Entry } from "../watch-cache/contract.ts";
import type { Selection } from "./selection.ts";

/** Whether a request selects a shard. The parameter is ignored while the gate is off. */
export function selectsShard(
  { shardSelector }: Pick<ListOptions, "shardSelector">,
  { gates }: Pick<ResourceStore, "gates">,
): boolean {
  return shardSelector !== "" && gates?.enabled("ShardedListAndWatch") === true;
}

/**
 * Restricts a selection to a shard.
 * @throws ApiError 500 with upstream's text when the selector cannot be parsed
 */
export async function withinShard(selection: Selection, shardSelector: string): Promise<Selection> {
  const shard = await parse(shardSelector);
  const has = ({ index }: Pick<Entry, "index">): boolean =>
    isInShard(shard, shard.field === "object.metadata.uid" ? index.uidHash : shardHash(Buffer.from(index.namespace)));
  return {
    ...selection,
    all: false,
    text: `${selection.text}\n${shard.text}`,
    shard: { text: shard.text, has },
    matches: (entry) => has(entry) && selection.matches(entry),
  };
}

async function parse(text: string): Promise<ShardSelector> {
  // Few servers need the parser of CEL.
  const { parseShardSelector } = await import("../lib/selectors/shard-parser.ts");
  try {
    return parseShardSelector(text);
  } catch (error) {
    if (error instanceof SelectorError) throw plainError(`invalid shard selector: ${error.message}`);
    throw error;
  }
}
