/**
 * Commits with derived writes: reads the state of their keys, derives, and repeats when another
 * client has changed it in between. Commits of this process that derive the same key take turns, so
 * that they do not conflict with each other.
 */
import { isDerived } from "../check-writes.ts";
import {
  type Check,
  type Committed,
  type Conflict,
  type DerivedWrite,
  StorageUnavailable,
  type Stored,
  type Write,
} from "../contract.ts";

interface DerivedCommitsOptions {
  read(key: string): Promise<Stored | undefined>;
  /** Commits; a conflict names the first check that failed. */
  commit(checks: readonly Check[], writes: readonly Write[]): Promise<Committed | Conflict>;
  /** @throws ValueTooLarge */
  checkValue(value: Buffer): void;
}

/** Attempts while other servers change the same keys. */
const attemptsMax = 50;

export class DerivedCommits {
  readonly #options: DerivedCommitsOptions;
  /** The last commit that derives each key. */
  readonly #last = new Map<string, Promise<unknown>>();

  constructor(options: DerivedCommitsOptions) {
    this.#options = options;
  }

  /** @throws StorageUnavailable · ValueTooLarge · the error of a derived write */
  async commit(checks: readonly Check[], writes: readonly (Write | DerivedWrite)[]): Promise<Committed | Conflict> {
    const derived = writes.filter(isDerived);
    if (derived.length === 0) return this.#options.commit(checks, writes as readonly Write[]);
    const keys = derived.map(({ key }) => key);
    const before = keys.map((key) => this.#last.get(key));
    const plain = writes.filter((write): write is Write => !isDerived(write));
    const committed = Promise.allSettled(before).then(() => this.#deriveAndCommit(checks, plain, derived));
    for (const key of keys) this.#last.set(key, committed);
    try {
      return await committed;
    } finally {
      for (const key of keys) if (this.#last.get(key) === committed) this.#last.delete(key);
    }
  }

  async #deriveAndCommit(
    checks: readonly Check[],
    plain: readonly Write[],
    derived: readonly DerivedWrite[],
  ): Promise<Committed | Conflict> {
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const states = await Promise.all(derived.map(({ key }) => this.#options.read(key)));
      const writes = [...plain];
      for (const [index, { key, derive }] of derived.entries()) {
        const value = derive(states[index]);
        if (value === undefined) continue;
        this.#options.checkValue(value.value);
        writes.push({ key, ...value });
      }
      const read = derived.map(({ key }, index) => ({ key, revision: states[index]?.revision ?? 0 }));
      const outcome = await this.#options.commit([...checks, ...read], writes);
      if (outcome.ok || !derived.some(({ key }) => key === outcome.key)) return outcome;
    }
    throw new StorageUnavailable("too many servers change the same object");
  }
}
