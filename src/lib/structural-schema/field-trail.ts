/**
 * Tracks the path of a walk, and collects the unknown fields that it finds, such as
 * `spec.list[0].nope`.
 * Source: k8s.io/apiextensions-apiserver@v0.36.0/pkg/apiserver/schema/pruning.
 */
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

  /**
   * Records an unknown field of the current object. Their number is limited, because paths are
   * longer than fields.
   */
  note(name: string): void {
    if (this.#found.length < recordedMax) this.#found.push(this.isRoot ? name : `${this.#steps.join("")}.${name}`);
  }

  /** The recorded paths, sorted. */
  get found(): readonly string[] {
    return this.#found.toSorted();
  }
}

/** Upstream shows about the first hundred, because it truncates the response. */
const recordedMax = 1000;
