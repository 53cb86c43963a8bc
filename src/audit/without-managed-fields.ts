/** Takes managed fields out of JSON without reading what else there is: a list may be long, and others wait meanwhile. */

/** Where objects are, by the way to them: the answer itself, the items of a list, and the objects in a Table. */
const ways: readonly (readonly string[])[] = [[], ["items", "*"], ["rows", "*", "object"]];
const metadataWays = ways.map((way) => [...way, "metadata"]);

/** @param json well-formed @returns the same text but for `metadata.managedFields` of the objects, wherever else that name may stand */
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

  /** @param at where a value begins @returns where it ends */
  #walk(at: number, way: readonly string[]): number {
    const opening = this.#json[at];
    if (opening === "{") return this.#walkObject(at, way);
    if (opening === "[" && leadsOn([...way, "*"])) return this.#walkArray(at, [...way, "*"]);
    return skipValue(this.#json, at);
  }

  #walkArray(start: number, way: readonly string[]): number {
    const json = this.#json;
    let at = skipSpace(json, start + 1);
    while (json[at] !== "]") {
      at = skipSpace(json, this.#walk(at, way));
      if (json[at] === ",") at = skipSpace(json, at + 1);
    }
    return at + 1;
  }

  #walkObject(start: number, way: readonly string[]): number {
    const json = this.#json;
    const isMetadata = metadataWays.some((one) => isSame(one, way));
    let comma = -1; // Before the member.
    let at = skipSpace(json, start + 1);
    while (json[at] !== "}") {
      const begin = at;
      const keyEnd = skipString(json, at);
      const key = json.slice(at + 1, keyEnd - 1);
      const value = skipSpace(json, skipSpace(json, keyEnd) + 1);
      const isWanted = !(isMetadata && key === "managedFields");
      const next = [...way, key];
      const end = isWanted && leadsOn(next) ? this.#walk(value, next) : skipValue(json, value);
      at = skipSpace(json, end);
      const isLast = json[at] !== ",";
      if (!isWanted) this.#remove(isLast && comma >= 0 ? comma : begin, isLast ? end : skipSpace(json, at + 1));
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

/** Whether something of interest may stand there. */
function leadsOn(way: readonly string[]): boolean {
  return metadataWays.some((one) => one.length >= way.length && way.every((step, index) => step === one[index]));
}

function skipSpace(json: string, start: number): number {
  let at = start;
  while (json.charCodeAt(at) <= 0x20) at++;
  return at;
}

/** @param start of the opening quote @returns what follows the closing one */
function skipString(json: string, start: number): number {
  let at = json.indexOf('"', start + 1);
  while (at >= 0 && isEscaped(json, at)) at = json.indexOf('"', at + 1);
  if (at < 0) throw new Error("JSON that does not end");
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
    if (found === null) throw new Error("JSON that does not end");
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
