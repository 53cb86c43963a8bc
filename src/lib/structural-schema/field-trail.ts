/** Where a walk is, and what it met there that nobody knows: `spec.list[0].nope`. */
export class FieldTrail {
  readonly #steps: string[] = [];
  readonly #found: string[] = [];

  get isRoot(): boolean {
    return this.#steps.length === 0;
  }

  enterField(name: string): void {
    this.#steps.push(this.isRoot ? name : `.${name}`);
  }

  enterItem(index: number): void {
    this.#steps.push(`[${index}]`);
  }

  leave(): void {
    this.#steps.pop();
  }

  /** Notes a field of where the walk is. At most so many are kept; each is longer than what it is about. */
  note(name: string): void {
    if (this.#found.length < notedMax) this.#found.push(this.isRoot ? name : `${this.#steps.join("")}.${name}`);
  }

  /** Sorted by text. */
  get found(): readonly string[] {
    return this.#found.toSorted();
  }
}

/** Upstream shows the first hundred or so of them, cut off by the length of the answer. */
const notedMax = 1000;
