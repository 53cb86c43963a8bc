/** What the ledger returns and reports in place of damaged records. */
import { type Change, revisionOf, unknownPosition } from "../embedded/ledger.ts";
import type { StorageOptions } from "../options.ts";

/**
 * Maximum size of the set of reported damage; when it is full it is cleared, and damage is reported
 * again.
 */
const reportedMax = 10_000;

const nothing = Buffer.alloc(0);

/** Reports each damage once. */
export class DamageReports {
  readonly #onDamage: StorageOptions["onDamage"];
  /** Keys and positions whose damage has been reported. */
  readonly #reported = new Set<string | number>();

  constructor(onDamage: StorageOptions["onDamage"]) {
    this.#onDamage = onDamage;
  }

  /** The change that replaces a damaged put of a key. */
  put(key: string, position: number, problem: string): Change {
    this.report(position === unknownPosition ? key : position, key, problem);
    return { ...nothingAt(position), key, damage: problem };
  }

  /** The change that replaces a damaged record of any key. */
  change<Head>(position: number, problem: string): Head {
    this.report(position, undefined, problem);
    return { ...nothingAt(position), damage: problem } as Head;
  }

  /** @param what a key or a position */
  report(what: string | number, key: string | undefined, problem: string): void {
    if (this.#reported.has(what)) return;
    if (this.#reported.size === reportedMax) this.#reported.clear();
    this.#reported.add(what);
    this.#onDamage?.({ key, revision: typeof what === "number" ? revisionOf(what) : unknownPosition, problem });
  }
}

function nothingAt(position: number): Change {
  return { type: "put", key: "", position, at: 0, previous: 0, historyBytes: 0, value: nothing };
}
