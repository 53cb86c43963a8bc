/** Compares a page of the source with the same keys of the target. */
import { compareKeys } from "../embedded/key-order.ts";
import type { CopiedChange, CopiedEntry, CopyTarget, SourcePage, TargetEntry } from "./contract.ts";

/** An object that one or both of the stores have. */
export interface KeyPair {
  readonly source: CopiedEntry | undefined;
  readonly target: TargetEntry | undefined;
}

/** Iterates over the keys of a page, and of the target in the same range. */
export async function* pairsOf(
  { entries, until }: SourcePage,
  after: string | undefined,
  target: CopyTarget,
): AsyncGenerator<KeyPair> {
  let at = 0;
  for await (const there of target.entries(after, until)) {
    let here = entries[at];
    while (here !== undefined && compareKeys(here.key, there.key) < 0) {
      yield { source: here, target: undefined };
      here = entries[++at];
    }
    if (here?.key === there.key) {
      yield { source: here, target: there };
      at++;
    } else yield { source: undefined, target: there };
  }
  for (; at < entries.length; at++) yield { source: entries[at], target: undefined };
}

interface ComparedPage {
  readonly page: SourcePage;
  readonly after: string | undefined;
  readonly target: CopyTarget;
  /** Milliseconds since 1970. */
  readonly now: number;
}

/** The changes that let the target have the objects of the page that can be read and have not expired. */
export async function* differencesOf({ page, after, target, now }: ComparedPage): AsyncGenerator<CopiedChange> {
  for await (const { source, target: there } of pairsOf(page, after, target)) {
    if (source === undefined || source.damage !== undefined || (source.expiresAt ?? now + 1) <= now) {
      if (there !== undefined) yield { key: there.key, revision: page.revision, value: null };
    } else if (!isSame(source, there)) yield source;
  }
}

/** The time of an object that expires is not compared: it is written again. */
function isSame(source: CopiedEntry, target: TargetEntry | undefined): boolean {
  if (target === undefined || target.damage !== undefined) return false;
  return source.expiresAt === undefined && !target.mayExpire && source.value.equals(target.value);
}
