/** An index: which objects use which protected objects. All objects are identified by their keys. */

/** A protected object, and how a user uses it. */
export type Reference<Use> = readonly [used: string, use: Use];

/** Maintained with each change of a user. Objects without references take no memory. */
export class Uses<Use> {
  /** The references of each user. */
  readonly #references = new Map<string, readonly Reference<Use>[]>();
  /** The users of each protected object. */
  readonly #users = new Map<string, Set<string>>();

  /** The number of entries in both maps. Tests use it to find leaks. */
  get size(): number {
    let size = this.#references.size;
    for (const users of this.#users.values()) size += users.size;
    return size;
  }

  /** The keys of all users. */
  users(): Iterable<string> {
    return this.#references.keys();
  }

  /**
   * Replaces the references of a user.
   *
   * @returns the protected objects that it used before or uses now
   */
  set(user: string, references: readonly Reference<Use>[]): ReadonlySet<string> {
    const before = this.#references.get(user) ?? [];
    for (const [used] of before) this.#remove(used, user);
    for (const [used] of references) this.#users.set(used, (this.#users.get(used) ?? new Set()).add(user));
    if (references.length > 0) this.#references.set(user, references);
    else this.#references.delete(user);
    return new Set([...before, ...references].map(([used]) => used));
  }

  /** Yields all uses of a protected object. */
  *of(used: string): Generator<Use> {
    for (const user of this.#users.get(used) ?? [])
      for (const [key, use] of this.#references.get(user) ?? []) if (key === used) yield use;
  }

  #remove(used: string, user: string): void {
    const users = this.#users.get(used);
    users?.delete(user);
    if (users?.size === 0) this.#users.delete(used);
  }
}

/** @returns whether the test is true for one of the uses */
export function some<Use>(uses: Iterable<Use>, test: (use: Use) => boolean): boolean {
  for (const use of uses) if (test(use)) return true;
  return false;
}
