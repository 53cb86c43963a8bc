/**
 * Verifies a copy: reads both stores completely, and computes a checksum of the keys and bytes of
 * each. Objects that expire are compared one by one instead, because either store may delete one
 * during the comparison.
 */
import { createHash, type Hash } from "node:crypto";
import type { Clock } from "../../apimachinery/clock.ts";
import { RevisionCompacted } from "../contract.ts";
import type { ChangeFeed, CopySource, CopyTarget, SourcePage } from "./contract.ts";
import { type KeyPair, pairsOf } from "./differences.ts";

export interface Verification {
  readonly objects: number;
  /** SHA-256 in hexadecimal, the same of both stores. */
  readonly checksum: string;
  /** Those of `objects` that expire. */
  readonly expiring: number;
  readonly differentCount: number;
  /** The first of their keys. */
  readonly different: readonly string[];
  readonly damagedCount: number;
  /** All objects that cannot be read. */
  readonly damaged: readonly { readonly key: string; readonly problem: string }[];
}

interface VerifyOptions {
  readonly source: CopySource;
  readonly target: CopyTarget;
  readonly clock: Clock;
  readonly feed: ChangeFeed;
  /** The state of the source that the target should have. */
  readonly revision: number;
  readonly progress: (objects: number, of: number) => void;
}

/** Keys of differences that are kept. */
const listedMax = 100;

/**
 * @returns undefined when the state was compacted and has changed
 * @throws RevisionCompacted when changes are missing · StorageUnavailable
 */
export async function verifyCopy(options: VerifyOptions): Promise<Verification | undefined> {
  const { source, target, clock, progress } = options;
  const total = await source.count();
  const comparison = new Comparison(clock);
  const reader = new StateReader(options);
  for (let after: string | undefined; ; ) {
    const page = await reader.page(after);
    if (page === undefined) return undefined;
    for await (const pair of pairsOf(page, after, target)) comparison.add(pair);
    progress(comparison.compared, Math.max(total, comparison.compared));
    if (page.until === undefined) return comparison.finish();
    after = page.until;
  }
}

/** Reads one state of the source, also when its revision is compacted while it is still the newest. */
class StateReader {
  readonly #options: VerifyOptions;
  #revision: number;

  constructor(options: VerifyOptions) {
    this.#options = options;
    this.#revision = options.revision;
  }

  async page(after: string | undefined): Promise<SourcePage | undefined> {
    const { source, feed } = this.#options;
    for (;;) {
      try {
        return await source.page(after, this.#revision);
      } catch (error) {
        if (!(error instanceof RevisionCompacted)) throw error;
        const newest = await source.current();
        await feed.reach(newest);
        if (feed.hasChanges) return undefined;
        this.#revision = newest;
      }
    }
  }
}

class Comparison {
  readonly #clock: Clock;
  readonly #sums = { source: createHash("sha256"), target: createHash("sha256") };
  readonly #different: string[] = [];
  readonly #damaged: { key: string; problem: string }[] = [];
  #differentCount = 0;
  #expiring = 0;
  compared = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add({ source, target }: KeyPair): void {
    this.compared++;
    if (source?.damage !== undefined) {
      this.#damaged.push({ key: source.key, problem: source.damage });
      if (target !== undefined) this.#differ(target.key);
    } else if (source?.expiresAt !== undefined) {
      this.#expiring++;
      const isOver = source.expiresAt <= this.#clock.now();
      if (!isOver && (target?.mayExpire !== true || !target.value.equals(source.value))) this.#differ(source.key);
    } else {
      if (source !== undefined) addTo(this.#sums.source, source.key, source.value);
      if (target !== undefined) addTo(this.#sums.target, target.key, target.value);
      if (source === undefined || target === undefined || !source.value.equals(target.value))
        this.#differ((source ?? target)?.key as string);
    }
  }

  finish(): Verification {
    const checksum = this.#sums.source.digest("hex");
    const isEqual = checksum === this.#sums.target.digest("hex");
    return {
      objects: this.compared - this.#damaged.length,
      checksum,
      expiring: this.#expiring,
      differentCount: Math.max(this.#differentCount, isEqual ? 0 : 1),
      different: this.#different,
      damagedCount: this.#damaged.length,
      damaged: this.#damaged,
    };
  }

  #differ(key: string): void {
    if (this.#differentCount++ < listedMax) this.#different.push(key);
  }
}

function addTo(sum: Hash, key: string, value: Buffer): void {
  const keyBytes = Buffer.from(key);
  const lengths = Buffer.allocUnsafe(8);
  lengths.writeUInt32BE(keyBytes.length, 0);
  lengths.writeUInt32BE(value.length, 4);
  sum.update(lengths).update(keyBytes).update(value);
}
