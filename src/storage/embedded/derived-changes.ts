import type { Change } from "./ledger.ts";

/**
 * The changes of derived writes that are not durable yet. Of those that follow each other on one key
 * and become durable together, only the last is written: many writes that are counted by one quota
 * then cost one change of the quota.
 */
export class DerivedChanges {
  readonly #mergeable = new Set<Change>();

  /** Adds the change of a derived write. */
  add(change: Change): void {
    this.#mergeable.add(change);
  }

  /** Makes the group write this change, because its state is reported to a caller. */
  keep(change: Change): void {
    this.#mergeable.delete(change);
  }

  /** Forgets all changes, because they are lost. */
  clear(): void {
    this.#mergeable.clear();
  }

  /**
   * Returns the changes to write, and forgets them. A commit keeps its first change, so that each revision is in the
   * log, and loses changes only from its end, so that the positions of the others stay consecutive.
   * @param commits the changes of the commits of one group, in order
   */
  merge(commits: readonly (readonly Change[])[]): Change[] {
    if (this.#mergeable.size === 0) return commits.flat();
    const kept: Change[] = [];
    /** By key: the index in `kept` of the derived change that follows. */
    const following = new Map<string, number>();
    /** By index in `kept`: the first change that it replaces. */
    const replaced = new Map<number, Change>();
    for (const changes of commits.toReversed()) {
      let end = changes.length;
      for (; end > 1; end--) {
        const change = changes[end - 1] as Change;
        const next = following.get(change.key);
        if (next === undefined || !this.#mergeable.has(change)) break;
        replaced.set(next, change);
      }
      for (let index = end - 1; index >= 0; index--) {
        const change = changes[index] as Change;
        if (this.#mergeable.has(change)) following.set(change.key, kept.length);
        else following.delete(change.key);
        kept.push(change);
      }
    }
    for (const changes of commits) for (const change of changes) this.#mergeable.delete(change);
    for (const [index, first] of replaced) kept[index] = replacing(first, kept[index] as Change);
    return kept.reverse();
  }
}

/** The last change as if it came directly after the state before the first one. */
function replacing({ previous, historyBytes, previousDamaged }: Change, last: Change): Change {
  const { type, key, position, at, value, seal } = last;
  return { type, key, position, at, value, seal, previous, historyBytes, ...(previousDamaged && { previousDamaged }) };
}
