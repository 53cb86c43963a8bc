/**
 * Removes managed fields from JSON text without parsing it, because long lists would block the
 * event loop.
 */

/** The paths of objects: the response itself, the items of a list, and the objects in a Table. */
const objectPaths: readonly (readonly string[])[] = [[], ["items", "*"], ["rows", "*", "object"]];
const metadataPaths = objectPaths.map((path) => [...path, "metadata"]);

/**
 * Removes `metadata.managedFields` of all objects.
 *
 * @param json well-formed JSON
 * @returns the same text without these members; members of that name elsewhere remain
 */
export function withoutManagedFields(json: string): string {
  return json.includes('"managedFields"') ? new Remover(json).run() : json;
}

class Remover {
  readonly #json: string;
  readonly #kept: string[] = [];
  #keptTo = 0;

  constructor(json: string) {
    this.#json = json;
  }

  run(): string {
    this.#walk(skipSpace(this.#json, 0), []);
    return this.#kept.join("") + this.#json.slice(this.#keptTo);
  }

  /** @param at the start of a value @returns the end of the value */
  #walk(at: number, path: readonly string[]): number {
    const opening = this.#json[at];
    if (opening === "{") return this.#walkObject(at, path);
    if (opening === "[" && leadsToMetadata([...path, "*"])) return this.#walkArray(at, [...path, "*"]);
    return skipValue(this.#json, at);
  }

  #walkArray(start: number, path: readonly string[]): number {
    const json = this.#json;
    let at = skipSpace(json, start + 1);
    while (json[at] !== "]") {
      at = skipSpace(json, this.#walk(at, path));
      if (json[at] === ",") at = skipSpace(json, at + 1);
    }
    return at + 1;
  }

  #walkObject(start: number, path: readonly string[]): number {
    const json = this.#json;
    const isMetadata = metadataPaths.some((one) => isSame(one, path));
    let comma = -1; // The position of the comma before the member.
    let at = skipSpace(json, start + 1);
    while (json[at] !== "}") {
      const begin = at;
      const keyEnd = skipString(json, at);
      const key = json.slice(at + 1, keyEnd - 1);
      const value = skipSpace(json, skipSpace(json, keyEnd) + 1);
      const isKept = !(isMetadata && key === "managedFields");
      const next = [...path, key];
      const end = isKept && leadsToMetadata(next) ? this.#walk(value, next) : skipValue(json, value);
      at = skipSpace(json, end);
      const isLast = json[at] !== ",";
      if (!isKept) this.#remove(isLast && comma >= 0 ? comma : begin, isLast ? end : skipSpace(json, at + 1));
      else comma = at;
      if (!isLast) at = skipSpace(json, at + 1);
    }
    return at + 1;
  }

  #remove(from: number, to: number): void {
    if (from >= this.#keptTo) this.#kept.push(this.#json.slice(this.#keptTo, from));
    this.#keptTo = to;
  }
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((step, index) => step === b[index]);
}

/** @returns whether the path is a prefix of the path of some metadata */
function leadsToMetadata(path: readonly string[]): boolean {
  return metadataPaths.some((one) => one.length >= path.length && path.every((step, index) => step === one[index]));
}

function skipSpace(json: string, start: number): number {
  let at = start;
  while (json.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** @param start the position of the opening quote @returns the position after the closing quote */
function skipString(json: string, start: number): number {
  let at = json.indexOf('"', start + 1);
  while (at >= 0 && isEscaped(json, at)) at = json.indexOf('"', at + 1);
  if (at < 0) throw new Error("unterminated JSON");
  return at + 1;
}

function isEscaped(json: string, quote: number): boolean {
  let at = quote;
  while (json.charCodeAt(at - 1) === 0x5c) at--;
  return (quote - at) % 2 === 1;
}

function skipValue(json: string, start: number): number {
  const opening = json[start];
  if (opening === '"') return skipString(json, start);
  if (opening !== "{" && opening !== "[") return skipScalar(json, start);
  const structural = /["{}[\]]/g;
  structural.lastIndex = start;
  for (let depth = 0; ; ) {
    const found = structural.exec(json);
    if (found === null) throw new Error("unterminated JSON");
    if (found[0] === '"') structural.lastIndex = skipString(json, found.index);
    else if (found[0] === "{" || found[0] === "[") depth++;
    else if (--depth === 0) return structural.lastIndex;
  }
}

function skipScalar(json: string, start: number): number {
  const end = /[\s,}\]]|$/g;
  end.lastIndex = start;
  return end.exec(json)?.index ?? json.length;
}
