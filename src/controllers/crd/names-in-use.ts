/** The names of definitions by group, so that the cost of a definition does not grow with their number. */
import type { HeldNames, UsedNames } from "./contract.ts";

/** A set in which a name is as long as one of those that have added it has not removed it. */
class CountedNames {
  readonly #counts = new Map<string, number>();

  has(name: string): boolean {
    return this.#counts.has(name);
  }

  change(names: readonly string[], by: 1 | -1): void {
    for (const name of names) {
      const count = (this.#counts.get(name) ?? 0) + by;
      if (count === 0) this.#counts.delete(name);
      else this.#counts.set(name, count);
    }
  }
}

interface Group {
  readonly resources: CountedNames;
  readonly kinds: CountedNames;
  /** Definitions whose desired names are not accepted. */
  readonly waiting: Set<string>;
  /** How many definitions and reservations it has. */
  holders: number;
}

export class NamesInUse {
  readonly #definitions = new Map<string, HeldNames>();
  readonly #groups = new Map<string, Group>();

  /** The definitions that were set and not removed. */
  definitions(): IterableIterator<string> {
    return this.#definitions.keys();
  }

  set(definition: string, held: HeldNames): void {
    this.remove(definition);
    this.#definitions.set(definition, held);
    const group = this.#hold(held);
    if (held.waits) group.waiting.add(definition);
  }

  /** @returns what the definition had */
  remove(definition: string): HeldNames | undefined {
    const held = this.#definitions.get(definition);
    if (held === undefined) return undefined;
    this.#definitions.delete(definition);
    this.#groups.get(held.group)?.waiting.delete(definition);
    this.#release(held);
    return held;
  }

  /** Holds names that a definition is about to have. @returns a function that releases them */
  reserve(held: HeldNames): () => void {
    this.#hold(held);
    return () => this.#release(held);
  }

  used(group: string): UsedNames {
    return this.#groups.get(group) ?? { resources: new CountedNames(), kinds: new CountedNames() };
  }

  /** The definitions of a group whose desired names are not accepted. */
  waiting(group: string): Iterable<string> {
    return this.#groups.get(group)?.waiting ?? [];
  }

  #hold({ group: name, resources, kinds }: HeldNames): Group {
    let group = this.#groups.get(name);
    if (group === undefined) {
      group = { resources: new CountedNames(), kinds: new CountedNames(), waiting: new Set(), holders: 0 };
      this.#groups.set(name, group);
    }
    group.resources.change(resources, 1);
    group.kinds.change(kinds, 1);
    group.holders += 1;
    return group;
  }

  #release({ group: name, resources, kinds }: HeldNames): void {
    const group = this.#groups.get(name);
    if (group === undefined) return;
    group.resources.change(resources, -1);
    group.kinds.change(kinds, -1);
    group.holders -= 1;
    if (group.holders === 0) this.#groups.delete(name);
  }
}
