/** Finds the errors that docstrings name, and those that the code throws. */
import type { Declaration, Owner, SourceFile } from "./declarations.ts";

/** Errors of the language and of Node.js. */
export const builtin: readonly string[] = ["Error", "TypeError", "RangeError", "SyntaxError", "AssertionError"];

/** An error that a `throw` statement constructs. */
export interface Thrown {
  readonly error: string;
  /** Of an ApiError, as the docstring of its constructor says. */
  readonly code?: string;
  /** The method of a returned object that throws it; `?` for another inner function; empty for the body itself. */
  readonly within: string;
}

/** Answers questions about all sources together. */
export class Sources {
  readonly declarations: readonly Declaration[];
  readonly #files: ReadonlyMap<string, SourceFile>;
  /** Functions by file and name. */
  readonly #functions = new Map<string, Declaration>();
  /** Members of classes and interfaces by their own names. */
  readonly #members = new Map<string, Declaration[]>();
  readonly #owners = new Map<string, Owner[]>();
  /** Error classes, with their bases. */
  readonly #bases = new Map<string, string>([
    ["Error", ""],
    ...builtin.map((name): [string, string] => [name, "Error"]),
  ]);

  constructor(files: readonly SourceFile[]) {
    this.#files = new Map(files.map((file) => [file.file, file]));
    this.declarations = files.flatMap(({ declarations }) => declarations);
    for (const declaration of this.declarations) {
      const { file, name, owner } = declaration;
      if (owner === undefined) this.#functions.set(`${file}#${name}`, declaration);
      else pushTo(this.#members, memberName(declaration), declaration);
    }
    for (const owner of files.flatMap(({ owners }) => owners)) pushTo(this.#owners, owner.name, owner);
    this.#findErrors();
  }

  #findErrors(): void {
    const classes = [...this.#owners.values()].flat().filter(({ kind }) => kind === "class");
    for (let before = 0; before !== this.#bases.size; ) {
      before = this.#bases.size;
      for (const { name, bases } of classes) if (this.#bases.has(bases[0] ?? "")) this.#bases.set(name, bases[0] ?? "");
    }
  }

  isError(name: string): boolean {
    return this.#bases.has(name);
  }

  /** Whether an error is one of the named class. All errors are an `Error`, so that name means no other class. */
  isA(error: string, named: string): boolean {
    if (error === named) return true;
    const base = this.#bases.get(error);
    return base !== undefined && base !== "" && base !== "Error" && this.isA(base, named);
  }

  /** The error classes that `@throws` of a docstring names, at the start or after ` · ` or `;`. */
  named(docstring: string): string[] {
    const lists = throwsOf(docstring).flatMap((text) => text.split(/ · |;\s/));
    const names = lists.flatMap(
      (list) =>
        /^(?:[A-Z]\w+|\d{3}|,| or )(?:,? |[A-Z]\w+|\d{3}|or )*/.exec(list.replaceAll("\n", " "))?.[0].split(/\W+/) ??
        [],
    );
    return names.filter((name) => this.isError(name));
  }

  /** What a declaration implements: members of the interfaces of its class, or the type of a constant. */
  implemented(declaration: Declaration): Declaration[] {
    const { file, lines, owner } = declaration;
    if (owner?.kind === "class") return owner.bases.flatMap((base) => this.member(base, memberName(declaration)) ?? []);
    const type = /\bconst \w+: (\w+)/.exec(lines[0] ?? "")?.[1];
    const found = type === undefined ? undefined : this.#resolve(file, type);
    return found === undefined ? [] : [found];
  }

  /** The member of an interface. */
  member(name: string, member: string): Declaration | undefined {
    return this.#members.get(member)?.find(({ owner }) => owner?.name === name && owner.kind === "interface");
  }

  /** The errors that the `throw` statements of a body construct, but those in a `try` with a `catch`. */
  thrown(declaration: Declaration): Thrown[] {
    return declaration.lines.flatMap((line, at) => {
      const errors = this.#errorsOfLine(line, at, declaration);
      const within = errors.length > 0 ? functionAround(declaration.lines, at) : undefined;
      return within === undefined ? [] : errors.map((error) => ({ ...error, within }));
    });
  }

  #errorsOfLine(line: string, at: number, declaration: Declaration): Omit<Thrown, "within">[] {
    const errors: Omit<Thrown, "within">[] = [];
    for (const [, isNew, name = ""] of line.matchAll(/\bthrow (?:await )?(new )?([\w$.#]+)(?=[(<])/g)) {
      const made = isNew === undefined ? this.#madeBy(declaration, name) : { error: name };
      if (made !== undefined && this.isError(made.error)) errors.push(made);
    }
    if (at === 0) return errors;
    for (const [, name = ""] of line.matchAll(/(?<!throw |new |[\w.])((?:this\.)?[#\w$]+)\(/g)) {
      const called = this.#called(declaration, name);
      if (called !== undefined && called !== declaration && neverReturns(called)) errors.push(...this.thrown(called));
    }
    return errors;
  }

  #called({ file, owner }: Declaration, name: string): Declaration | undefined {
    if (!name.startsWith("this.")) return this.#resolve(file, name);
    return this.#members.get(name.slice("this.".length))?.find((one) => one.owner === owner);
  }

  /** The function that a name means in a file. */
  #resolve(file: string, name: string): Declaration | undefined {
    const found = this.#functions.get(`${file}#${name}`);
    if (found !== undefined) return found;
    const imported = this.#files.get(file)?.imports.get(name);
    return imported === undefined || imported.file === file ? undefined : this.#resolve(imported.file, imported.name);
  }

  /** The error that a constructor function returns. */
  #madeBy(declaration: Declaration, name: string): Omit<Thrown, "within"> | undefined {
    const maker = this.#called(declaration, name);
    const error = /\): (?:Promise<)?(\w+)/.exec(maker?.lines.join(" ") ?? "")?.[1];
    if (maker === undefined || error === undefined) return;
    const code = /^\/\*\*\s*(?:\* )?(\d{3})\b/.exec(maker.docstring)?.[1];
    return { error, ...(code !== undefined && { code }) };
  }

  /**
   * The errors that a body constructs, and those that the functions it calls construct, return or name. A call of a
   * method means all methods and members of contracts with its name. Functions without `@throws` are followed.
   */
  reachable(declaration: Declaration): ReadonlySet<string> {
    const found = new Set<string>();
    const seen = new Set<Declaration>([declaration]);
    const visit = (one: Declaration): void => {
      for (const name of this.#constructed(one)) found.add(name);
      for (const callee of this.#callees(one)) {
        if (seen.has(callee)) continue;
        seen.add(callee);
        for (const name of [...this.named(callee.docstring), ...this.#constructed(callee)]) found.add(name);
        const isFollowed = callee.owner === undefined && !callee.docstring.includes("@throws");
        if (callee.file === declaration.file || isFollowed) visit(callee);
      }
    };
    visit(declaration);
    return found;
  }

  #constructed({ lines }: Declaration): string[] {
    const text = lines.join("\n");
    return [...text.matchAll(/(?:\bnew |: (?:Promise<)?)(\w+)/g)]
      .map(([, name = ""]) => name)
      .filter((name) => this.isError(name));
  }

  #callees(declaration: Declaration): Declaration[] {
    const { file, owner } = declaration;
    return [...declaration.lines.join("\n").matchAll(/((?<!\.)\.)?(#?[\w$]+)\b(?!:)/g)].flatMap(
      ([, dot, name = ""]) => {
        const target = dot || name.startsWith("#") ? undefined : this.#resolve(file, name);
        if (target !== undefined) return target;
        const members = this.#members.get(name) ?? [];
        const constructors = this.#owners.get(name)?.flatMap((one) => this.#constructorOf(one)) ?? [];
        return [...members.filter((one) => !name.startsWith("#") || one.owner === owner), ...constructors];
      },
    );
  }

  #constructorOf(owner: Owner): Declaration[] {
    return (this.#members.get("constructor") ?? []).filter((one) => one.owner === owner);
  }
}

/** The texts of the tags `@throws` of a docstring. */
export function throwsOf(docstring: string): string[] {
  const text = docstring.replaceAll(/^\s*\/\*\*|\*\/$/g, "").replaceAll(/^\s*\* ?/gm, "");
  return text.split(/@(?=[a-z]+\b)(?!link)/).flatMap((tag) => (tag.startsWith("throws") ? tag.slice(6).trim() : []));
}

/** Whether a declaration has no body: a member of an interface, or a type. */
export function isContract({ lines, owner }: Declaration): boolean {
  return owner?.kind === "interface" || /^(?:export )?type /.test(lines[0] ?? "");
}

/** Whether a call runs the lines of a declaration: not for a constant that calls others with a callback. */
export function isFunction({ lines: [first = ""] }: Declaration): boolean {
  return !/\bconst /.test(first) || /= (?:async )?(?:\(|<|\w+ =>)/.test(first);
}

/** The name of a member without that of its class or interface. */
export function memberName({ name, owner }: Pick<Declaration, "name" | "owner">): string {
  return name.slice((owner?.name.length ?? -1) + 1);
}

function pushTo<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, [value]);
  else values.push(value);
}

/** Whether a call of a function is a `throw`; but not one that converts an error of its caller. */
function neverReturns({ lines }: Declaration): boolean {
  const signature = lines.join("\n").split("{\n")[0] ?? "";
  return /\): never\b/.test(signature) && !signature.includes(": unknown");
}

const indentOf = (line: string): number => /^\s*/.exec(line)?.[0].length ?? 0;

const blocks = /^(?:if|for|while|switch|catch)$/;

/** @returns {@link Thrown.within} of a line; undefined in a `try` with a `catch` */
function functionAround(lines: readonly string[], at: number): string | undefined {
  const base = indentOf(lines[0] as string);
  let indent = indentOf(lines[at] as string);
  for (let line = at - 1; line > 0 && indent > base; line--) {
    const text = lines[line] as string;
    if (text === "" || indentOf(text) >= indent) continue;
    indent = indentOf(text);
    if (indent > base && /\btry \{$/.test(text) && isCaught(lines, at, indent)) return undefined;
    const inner = innerFunction(/^\s*\).*\{$/.test(text) ? signatureBefore(lines, line) : text);
    if (indent > base && inner !== undefined) return inner;
  }
  return "";
}

function isCaught(lines: readonly string[], at: number, indent: number): boolean {
  const end = lines.find((line, index) => index > at && indentOf(line) === indent && line.trimStart().startsWith("}"));
  return end !== undefined && /\} catch\b/.test(end);
}

/** A signature of several lines, as one: its first and last line. */
function signatureBefore(lines: readonly string[], last: number): string {
  const indent = indentOf(lines[last] as string);
  const first = lines.findLast((one, index) => index < last && indentOf(one) === indent && /^\s*[^\s)}]/.test(one));
  return `${first ?? ""}${(lines[last] as string).trimStart()}`;
}

/** The name of the function that a line begins, unless it is a callback, which the body calls through others. */
function innerFunction(line: string): string | undefined {
  const name = /^\s*(?:(?:async|get|set) )?(\w+)(?:\(|: (?:async )?\()(?!.*\(.*=> \{$).*\{$/.exec(line)?.[1];
  if (name !== undefined && !blocks.test(name)) return name;
  const isOther =
    /^\s*(?:(?:return|const \w+ =) (?:async )?(?:\(|function|\w+ =>)|(?:async )?function\*? \w+\().*\{$/.test(line);
  return isOther ? "?" : undefined;
}
