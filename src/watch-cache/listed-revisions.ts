/**
 * When the revisions of a cache were last listed. A state expires some time later, also when nothing
 * has replaced it: other servers write Leases all the time, so that compaction removes it there.
 */

/** Revisions, in order, at least so far apart in time that their number is bounded. */
interface Listed {
  revision: number;
  readonly since: number;
  /** The last time at which a revision of this record was listed, in milliseconds since 1970. */
  until: number;
}

/** A record covers this part of the time after which states expire. */
const recordsPerAge = 32;

export class ListedRevisions {
  readonly #ageMs: number;
  #records: Listed[] = [];

  /** @param ageMs after which states expire; Infinity keeps no records */
  constructor(ageMs: number) {
    this.#ageMs = ageMs;
  }

  /** @param revision not lower than any before */
  add(revision: number, now: number): void {
    if (this.#ageMs === Number.POSITIVE_INFINITY) return;
    const last = this.#records.at(-1);
    const isNew = last === undefined || now - last.since >= this.#ageMs / recordsPerAge;
    if (last !== undefined && (!isNew || this.#records.at(-2)?.revision === revision)) {
      last.revision = revision;
      last.until = now;
      return;
    }
    this.#records.push({ revision, since: now, until: now });
    // One expired record remains, which covers all revisions before it.
    while (now - (this.#records[1]?.until ?? now) >= this.#ageMs) this.#records.shift();
  }

  /**
   * Returns the last time at which the revision, or the first one after it of those listed, was
   * listed, which is at most one record too late; undefined when there is none.
   */
  find(revision: number): { readonly isOwn: boolean; readonly until: number } | undefined {
    let at = this.#records.findIndex((record) => record.revision >= revision);
    if (at < 0) return undefined;
    while (this.#records[at + 1]?.revision === revision) at++;
    const { revision: found, until } = this.#records[at] as Listed;
    return { isOwn: found === revision, until };
  }
}
