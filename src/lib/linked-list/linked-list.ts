/**
 * What comes and goes with each request, such as the open requests, in the order of its arrival.
 *
 * V8's `Map` and `Set` are unfit for this: a table that they have outgrown keeps what it contained and refers to the table
 * that followed it. Once one table is in the old generation, all later ones with their former members survive each
 * collection of the young generation, until the next full collection. A member that leaves a list refers to nothing.
 */

/** A member of a list. */
export interface Member<Value> {
  readonly value: Value;
}

class Link<Value> implements Member<Value> {
  readonly value: Value;
  previous: Link<Value> | undefined;
  next: Link<Value> | undefined;

  constructor(value: Value) {
    this.value = value;
  }
}

/** A list from which each member can be removed in constant time. */
export class LinkedList<Value> {
  #first: Link<Value> | undefined;
  #last: Link<Value> | undefined;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** The value that has been in the list for the longest time. */
  get first(): Value | undefined {
    return this.#first?.value;
  }

  /** Adds a value at the end. @returns what {@link LinkedList.remove} needs */
  add(value: Value): Member<Value> {
    const link = new Link(value);
    link.previous = this.#last;
    if (this.#last === undefined) this.#first = link;
    else this.#last.next = link;
    this.#last = link;
    this.#size++;
    return link;
  }

  /** Removes a member that this list has. */
  remove(member: Member<Value>): void {
    const link = member as Link<Value>;
    const { previous, next } = link;
    if (previous === undefined) this.#first = next;
    else previous.next = next;
    if (next === undefined) this.#last = previous;
    else next.previous = previous;
    link.previous = undefined;
    link.next = undefined;
    this.#size--;
  }

  /** Iterates in the order of arrival. The current value may be removed meanwhile. */
  *[Symbol.iterator](): Generator<Value> {
    for (let link = this.#first; link !== undefined; ) {
      const { value, next } = link;
      yield value;
      link = next;
    }
  }
}
