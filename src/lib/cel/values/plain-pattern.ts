/**
 * Patterns that JavaScript's own regular expressions can match safely, such as `^[a-z][a-z0-9-]*$`.
 * They are anchored at the start, have no groups and no alternatives, and no character that a
 * repeated part matches can start the part after it. So matching never backtracks, takes linear
 * time, and has the same result as RE2. RE2 matches all other patterns.
 */

interface Part {
  /** The ASCII characters that the part matches. */
  readonly set: ReadonlySet<string>;
  readonly min: number;
  readonly max: number;
}

const atom = /[A-Za-z0-9 _@/:;,=~!#%&<>"'-]|\\[.\-/+*?()[\]{}|^$\\]|\[[A-Za-z0-9 _@/:;,=~!#%<>"'.+*?(){}|$-]+\]/y;
const quantifier = /[*+?]|\{([0-9]{1,3})(,([0-9]{1,3})?)?\}/y;
const partsMax = 50;

/** Compiles a plain pattern. @returns undefined for any other pattern */
export function plainPattern(pattern: string): RegExp | undefined {
  const parts = partsOf(pattern);
  // Bounded: `isUnambiguous` leaves nothing to go back to.
  return parts?.every((_, at) => isUnambiguous(parts, at)) === true ? new RegExp(pattern) : undefined;
}

/**
 * Compiles a pattern of one part that is not empty, such as `[a-z]+`. No part follows it, so that
 * matching is linear from any position.
 *
 * @returns a global pattern; undefined for any other pattern
 */
export function plainPart(pattern: string): RegExp | undefined {
  atom.lastIndex = 0;
  const found = atom.exec(pattern)?.[0];
  if (found === undefined || charactersOf(found) === undefined) return undefined;
  // Bounded: a single part matches wherever it begins.
  return pattern === found || pattern === `${found}+` ? new RegExp(pattern, "g") : undefined;
}

function partsOf(pattern: string): Part[] | undefined {
  if (!pattern.startsWith("^")) return undefined;
  const parts: Part[] = [];
  let at = 1;
  while (at < pattern.length) {
    if (pattern[at] === "$" && at === pattern.length - 1) return parts;
    atom.lastIndex = at;
    const found = atom.exec(pattern)?.[0];
    const set = found === undefined ? undefined : charactersOf(found);
    if (found === undefined || set === undefined || parts.length >= partsMax) return undefined;
    at += found.length;
    quantifier.lastIndex = at;
    const times = quantifier.exec(pattern);
    at += times?.[0].length ?? 0;
    const [min, max] = timesOf(times);
    if (min > max || /^[*+?{]/.test(pattern.slice(at))) return undefined;
    parts.push({ set, min, max });
  }
  return parts;
}

function timesOf(found: RegExpExecArray | null): [min: number, max: number] {
  if (found === null) return [1, 1];
  const [text, min, comma, max] = found;
  if (text === "*") return [0, Number.POSITIVE_INFINITY];
  if (text === "+") return [1, Number.POSITIVE_INFINITY];
  if (text === "?") return [0, 1];
  if (comma === undefined) return [Number(min), Number(min)];
  return [Number(min), max === undefined ? Number.POSITIVE_INFINITY : Number(max)];
}

/** @returns undefined for an invalid range */
function charactersOf(text: string): ReadonlySet<string> | undefined {
  if (!text.startsWith("[")) return new Set([text.at(-1) as string]);
  const inner = text.slice(1, -1);
  const set = new Set<string>();
  for (let at = 0; at < inner.length; at++) {
    const first = inner[at] as string;
    if (inner[at + 1] !== "-" || at + 2 >= inner.length) {
      set.add(first);
      continue;
    }
    const last = inner[at + 2] as string;
    if (!/^(?:[a-z]{2}|[A-Z]{2}|[0-9]{2})$/.test(first + last) || first > last) return undefined;
    for (let code = first.charCodeAt(0); code <= last.charCodeAt(0); code++) set.add(String.fromCharCode(code));
    at += 2;
  }
  return set;
}

/**
 * Whether a part needs no backtracking: the parts that can follow it share no character with it.
 */
function isUnambiguous(parts: readonly Part[], at: number): boolean {
  const { set, min, max } = parts[at] as Part;
  if (min === max) return true;
  for (const next of parts.slice(at + 1)) {
    if ([...next.set].some((character) => set.has(character))) return false;
    if (next.min > 0) return true;
  }
  return true;
}
