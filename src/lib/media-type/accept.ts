/**
 * Parses Accept headers in the order of goautoneg, which upstream uses. Source:
 * https://github.com/munnerz/goautoneg.
 */

/** Clauses of an Accept header that are parsed; the rest is ignored. */
const clausesMax = 32;
/** Parameters of a clause that are parsed; the rest is ignored. */
const parametersMax = 32;
const headersMax = 100;
const headerCharactersMax = 500;

/** A bounded cache: clients send few different headers. */
function cached<T>(read: (header: string) => T): (header: string) => T {
  const values = new Map<string, T>();
  return (header) => {
    const found = values.get(header);
    if (found !== undefined) return found;
    const made = read(header);
    if (header.length > headerCharactersMax) return made;
    if (values.size >= headersMax) values.clear();
    values.set(header, made);
    return made;
  };
}

/** The types as written, without parameters. */
export const acceptedTypes = cached((header): readonly string[] =>
  header.split(",", clausesMax).map((clause) => trim(clause.split(";", 1)[0] as string)),
);

/** @returns clauses in the order in which they are tried; malformed ones are dropped */
export const parseAccept = cached((header): readonly Clause[] => readAccept(header));

function readAccept(header: string): Clause[] {
  const clauses = header.split(",", clausesMax).flatMap(parseClause);
  // Upstream's comparison is not transitive: `*/*` comes last whatever its quality. This gives the
  // result of its sort.
  for (let index = 1; index < clauses.length; index++) {
    for (let at = index; at > 0 && comesBefore(clauses[at] as Clause, clauses[at - 1] as Clause); at--) {
      [clauses[at - 1], clauses[at]] = [clauses[at] as Clause, clauses[at - 1] as Clause];
    }
  }
  return clauses;
}

export interface Clause {
  readonly type: string;
  readonly quality: number;
  readonly parameters: ReadonlyMap<string, string>;
}

function comesBefore(a: Clause, b: Clause): boolean {
  if (a.quality > b.quality) return true;
  if (!a.type.startsWith("*/") && b.type.startsWith("*/")) return true;
  return !a.type.endsWith("/*") && b.type.endsWith("/*");
}

function parseClause(text: string): Clause[] {
  const [range = "", ...rest] = trim(text).split(";", parametersMax + 1);
  const [type = "", subtype = "", ...more] = range.split("/").map(trim);
  if (more.length > 0 || (subtype === "" && type !== "*")) return [];
  const parameters = new Map<string, string>();
  let quality = 1;
  for (const parameter of rest) {
    const [name = "", value = "", ...others] = parameter.split("=");
    if (value === "" || others.length > 0) continue;
    if (trim(name) === "q") quality = parseQuality(value);
    else parameters.set(trim(name), trim(value));
  }
  return [{ type: `${type}/${subtype === "" ? "*" : subtype}`, quality, parameters }];
}

/** Parses as Go's ParseFloat, except for hexadecimal numbers; 0 for malformed text. */
function parseQuality(text: string): number {
  if (/^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?$/i.test(text)) return Number(text);
  const infinite = /^([+-]?)inf(?:inity)?$/i.exec(text);
  if (infinite !== null) return infinite[1] === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
  return text.toLowerCase() === "nan" ? Number.NaN : 0; // NaN compares as neither more nor less.
}

/** Trims spaces only. */
function trim(text: string): string {
  let start = 0;
  let end = text.length;
  while (text[start] === " ") start++;
  while (end > start && text[end - 1] === " ") end--;
  return text.slice(start, end);
}
