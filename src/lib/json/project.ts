/**
 * Reads some members of compact JSON, and skips the others without parsing them: a few fields of a large object cost
 * little more than finding them. Ours.
 */
import { endOfString, endOfValue } from "./member.ts";
import { longInteger } from "./parse.ts";
import { setMember } from "./values.ts";

/** The members that {@link project} reads: see {@link pathTree}. */
export interface PathTree {
  readonly takes: "members" | "keys" | "all";
  readonly members: readonly { readonly name: string; readonly bytes: Buffer; readonly tree: PathTree }[];
  /** Whether members without a tree are read whole. */
  readonly others: boolean;
}

/** What {@link project} has read. */
export interface Projection {
  readonly value: Record<string, unknown>;
  /** The position of the located member of the object, and of its end; 0 without one. */
  readonly start: number;
  readonly end: number;
}

const whole: PathTree = { takes: "all", members: [], others: true };

/**
 * Compiles paths such as `spec.containers.name`, which lead through lists as well.
 *
 * @param paths a path selects all of its value; one that ends in `.*` only the keys of a map, with the value true; the
 *   path `*` all members that no other path begins with
 */
export function pathTree(paths: readonly string[]): PathTree {
  return treeOf(
    paths.filter((path) => path !== "*").map((path) => path.split(".")),
    paths.includes("*"),
  );
}

function treeOf(paths: readonly (readonly string[])[], others: boolean): PathTree {
  if (paths.some((path) => path.length === 0)) return whole;
  if (paths.some(([first]) => first === "*")) return { takes: "keys", members: [], others: false };
  const byName = Map.groupBy(paths, ([first]) => first as string);
  const members = [...byName].map(([name, some]) => ({
    name,
    bytes: Buffer.from(name),
    tree: treeOf(
      some.map((path) => path.slice(1)),
      false,
    ),
  }));
  return { takes: "members", members, others };
}

/**
 * Reads the members that a tree selects.
 *
 * @param json a compact object that this server encoded
 * @param located the name of a member of the object whose position is returned
 * @returns undefined if the selected text has what a decoder has to read: nulls, integers that a double can lose, damage
 */
export function project(json: Buffer, tree: PathTree, located = ""): Projection | undefined {
  const reader = new Reader(json, located);
  try {
    const value = reader.object(tree);
    return reader.isExact ? { value, start: reader.start, end: reader.end } : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

const [quote, backslash, comma, colon] = [0x22, 0x5c, 0x2c, 0x3a];
const [openBrace, openBracket, closeBracket] = [0x7b, 0x5b, 0x5d];
const firstNonAscii = 0x80;
const letterN = 0x6e;
/** Digits of an integer that a double keeps. */
const exactDigits = 15;

class Reader {
  readonly #json: Buffer;
  readonly #located: string;
  #at = 0;
  #depth = 0;
  isExact = true;
  start = 0;
  end = 0;

  constructor(json: Buffer, located: string) {
    this.#json = json;
    this.#located = located;
  }

  object(tree: PathTree): Record<string, unknown> {
    const json = this.#json;
    const found: Record<string, unknown> = {};
    this.#depth++;
    this.#at++;
    while (json[this.#at] === quote) {
      const from = this.#at + 1;
      const to = endOfString(json, this.#at);
      this.#at = to + 1;
      if (json[this.#at] === colon) this.#at++;
      const member = memberOf(tree, json, from, to);
      if (member !== undefined) this.#member(found, member.name, member.tree);
      else if (tree.takes === "keys") this.#key(found, from, to);
      else if (tree.others) this.#member(found, this.#text(from, to), whole);
      else this.#skip();
      if (json[this.#at] === comma) this.#at++;
    }
    this.#at++;
    this.#depth--;
    return found;
  }

  #member(found: Record<string, unknown>, name: string, tree: PathTree): void {
    const start = this.#at;
    setMember(found, name, this.#value(tree));
    if (this.#depth > 1 || name !== this.#located) return;
    this.start = start;
    this.end = this.#at;
  }

  #key(found: Record<string, unknown>, from: number, to: number): void {
    setMember(found, this.#text(from, to), true);
    this.#skip();
  }

  #value(tree: PathTree): unknown {
    const start = this.#at;
    switch (this.#json[start]) {
      case quote:
        this.#skip();
        return this.#text(start + 1, this.#at - 1);
      case openBrace:
        return tree.takes === "all" ? this.#parsed() : this.object(tree);
      case openBracket:
        return tree.takes === "all" ? this.#parsed() : this.#list(tree);
      case letterN:
        this.isExact = false;
    }
    this.#skip();
    if (this.#at - start > exactDigits) this.isExact = false;
    return this.isExact ? JSON.parse(this.#json.toString("latin1", start, this.#at)) : undefined;
  }

  #list(tree: PathTree): unknown[] {
    const json = this.#json;
    const found: unknown[] = [];
    this.#at++;
    while (this.#at < json.length && json[this.#at] !== closeBracket) {
      found.push(this.#value(tree));
      if (json[this.#at] === comma) this.#at++;
    }
    this.#at++;
    return found;
  }

  /** All of a list or an object. */
  #parsed(): unknown {
    const start = this.#at;
    this.#skip();
    const text = this.#json.toString("utf8", start, this.#at);
    if (text.includes("null") || longInteger.test(text)) this.isExact = false;
    return this.isExact ? JSON.parse(text) : undefined;
  }

  /** A string without its quotes. */
  #text(from: number, to: number): string {
    const json = this.#json;
    for (let at = from; at < to; at++) {
      const byte = json[at] as number;
      if (byte < firstNonAscii && byte !== backslash) continue;
      return JSON.parse(json.toString("utf8", from - 1, to + 1));
    }
    return json.toString("latin1", from, to);
  }

  #skip(): void {
    this.#at = endOfValue(this.#json, this.#at);
  }
}

function memberOf(
  { members }: PathTree,
  json: Buffer,
  from: number,
  to: number,
): PathTree["members"][number] | undefined {
  for (let index = 0; index < members.length; index++) {
    const member = members[index] as PathTree["members"][number];
    if (isAt(member.bytes, json, from, to)) return member;
  }
  return undefined;
}

function isAt(bytes: Buffer, json: Buffer, from: number, to: number): boolean {
  if (bytes.length !== to - from) return false;
  for (let at = 0; at < bytes.length; at++) if (bytes[at] !== json[from + at]) return false;
  return true;
}
