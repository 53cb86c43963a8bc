/**
 * Compressed parts of lists, shared by the responses of a server: a list that is read again, or
 * after a few of its objects have changed, compresses only the parts that have changed.
 */
import type { DeflatedPart } from "../../lib/gzip/gzip-member.ts";
import type { Entry } from "../../watch-cache/contract.ts";
import { pieceBytes } from "./piece.ts";

/** What decides, together with the entries, the bytes of a part. */
export interface PartForm {
  /** The view of the entries: the same object for the same view. */
  readonly view: object;
  readonly encoding: string;
  /** Returns text of the entries that their part depends on, in addition. */
  readonly textOf?: (entries: readonly Entry[]) => string;
}

/** Entries that are compressed together. */
export interface PartEntries {
  readonly entries: readonly Entry[];
  /** Their compressed part; undefined when it must be made. */
  readonly deflated: DeflatedPart | undefined;
  /** Keeps the compressed part for other lists. */
  keep(deflated: DeflatedPart): void;
}

/** Without references to its entries, which may be replaced before the part is. */
interface KeptPart extends Pick<PartForm, "view" | "encoding"> {
  readonly keys: readonly string[];
  readonly revisions: readonly number[];
  readonly text: string | undefined;
  readonly deflated: DeflatedPart;
}

/** Limit of the older half and of the younger half, for all resources together. */
const halfBytesMax = 8 << 20;
/** Approximate bytes of a part, and of the identity of each entry. */
const [partOverhead, entryOverhead] = [400, 24];

/**
 * The size from which on a part ends before the first one that is kept already, the size at which it
 * ends if none follows soon, and its limit. So parts after a change are found again, although the
 * sizes before them are others. Of JSON; other encodings are about as long.
 */
const [partMin, partUsual, partMax] = [pieceBytes / 8, (pieceBytes * 3) / 4, pieceBytes];

/** The compressed parts. */
export class DeflatedParts {
  // By the first entry, weakly: replaced and deleted entries release their parts.
  #younger = new WeakMap<Entry, readonly KeptPart[]>();
  #older = new WeakMap<Entry, readonly KeptPart[]>();
  #youngerBytes = 0;

  /** Divides a list into parts, which have at least one entry. */
  *partsOf(entries: Iterable<Entry>, form: PartForm): Generator<PartEntries, void, void> {
    const source = new ReadAhead(entries);
    let keptBytes = 0;
    const keep = (first: Entry, part: KeptPart): void => {
      keptBytes += bytesOf(part);
      if (keptBytes <= halfBytesMax) this.#keep(first, part); // Parts of a longer list would replace those at its beginning.
    };
    for (let first = source.at(0); first !== undefined; first = source.at(0)) {
      const known = this.#find(first, form);
      const kept = known !== undefined && isUnchanged(known, source) ? known : undefined;
      if (kept !== undefined) keep(first, kept); // Used again.
      const entries = source.take(kept?.keys.length ?? this.#lengthOf(source, form));
      const text = form.textOf?.(entries);
      yield {
        entries,
        deflated: kept?.text === text ? kept?.deflated : undefined,
        keep: (deflated) => keep(first, partOf(entries, form, text, deflated)),
      };
    }
  }

  /** The number of entries of a new part. */
  #lengthOf(source: ReadAhead, form: PartForm): number {
    let usual: number | undefined;
    let bytes = 0;
    for (let count = 0; ; count++) {
      const entry = source.at(count);
      if (entry === undefined) return usual === undefined || bytes <= partMax ? count : usual;
      if (bytes >= partMin && this.#find(entry, form) !== undefined) return count;
      if (bytes >= partUsual) usual ??= count;
      if (bytes >= partMax) return usual as number;
      bytes += entry.json.length;
    }
  }

  #find(first: Entry, form: PartForm): KeptPart | undefined {
    const isOfForm = isOf(form);
    return this.#younger.get(first)?.find(isOfForm) ?? this.#older.get(first)?.find(isOfForm);
  }

  #keep(first: Entry, part: KeptPart): void {
    const isOfForm = isOf(part);
    const others = this.#younger.get(first) ?? [];
    if (others.find(isOfForm) === part) return;
    const bytes = bytesOf(part);
    if (this.#youngerBytes + bytes > halfBytesMax) {
      this.#older = this.#younger;
      this.#younger = new WeakMap();
      this.#youngerBytes = 0;
    }
    this.#youngerBytes += bytes;
    this.#younger.set(first, [...others.filter((other) => !isOfForm(other)), part]);
  }
}

function isOf({ view, encoding }: Pick<PartForm, "view" | "encoding">): (part: KeptPart) => boolean {
  return (part) => part.view === view && part.encoding === encoding;
}

function partOf(
  entries: readonly Entry[],
  { view, encoding }: PartForm,
  text: string | undefined,
  deflated: DeflatedPart,
): KeptPart {
  const keys = entries.map(({ key }) => key);
  const revisions = entries.map(({ revision }) => revision);
  return { view, encoding, keys, revisions, text, deflated };
}

/** Whether the next entries are those of the part: a revision of a key has one content. */
function isUnchanged({ keys, revisions }: KeptPart, source: ReadAhead): boolean {
  for (let index = 0; index < keys.length; index++) {
    const entry = source.at(index);
    if (entry === undefined || entry.revision !== revisions[index] || entry.key !== keys[index]) return false;
  }
  return true;
}

function bytesOf({ deflated, keys, text = "" }: KeptPart): number {
  return deflated.bytes.length + partOverhead + keys.length * entryOverhead + text.length;
}

/** Entries of which some are read before they are taken. */
class ReadAhead {
  readonly #entries: Iterator<Entry>;
  readonly #read: Entry[] = [];
  /** Those before are taken. */
  #start = 0;

  constructor(entries: Iterable<Entry>) {
    this.#entries = entries[Symbol.iterator]();
  }

  /** @returns undefined after the last one */
  at(index: number): Entry | undefined {
    const read = this.#read;
    const place = this.#start + index;
    while (read.length <= place) {
      const next = this.#entries.next();
      if (next.done === true) return undefined;
      read.push(next.value);
    }
    return read[place];
  }

  take(count: number): readonly Entry[] {
    const taken = this.#read.slice(this.#start, this.#start + count);
    this.#start += count;
    if (this.#start < this.#read.length) return taken;
    this.#read.length = 0;
    this.#start = 0;
    return taken;
  }
}
