/** Docstrings say which errors the code throws: `@throws` of functions and contracts, compared with the bodies. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { type Declaration, parseSource, readSources } from "./support/declarations.ts";
import { builtin, isContract, isFunction, Sources, type Thrown, throwsOf } from "./support/thrown-errors.ts";

/** Whose error it is, for a tag that names no class. */
const others = /^(?:as \{@link|the (?:first |last )?error\b|the reason\b|(?:other )?errors\b|what\b|to \w+ )/;

/** Errors of packages. */
const foreign = /^(?:InvalidArgumentError|ServiceError)\b/;

const where = ({ file, name }: Declaration): string => `${file}: ${name}`;

function missingIn(sources: Sources, declaration: Declaration, thrown: readonly Thrown[]): string[] {
  const { docstring } = declaration;
  const named = sources.named(docstring);
  const codes = throwsOf(docstring).flatMap((text): string[] => text.match(/\b[45]\d\d\b/g) ?? []);
  return thrown.flatMap(({ error, code }) => {
    if (!named.some((one) => sources.isA(error, one))) return `${where(declaration)}: ${error}`;
    const isOther = code !== undefined && codes.length > 0 && !codes.includes(code);
    return isOther ? `${where(declaration)}: ${error} ${code}` : [];
  });
}

/** Errors that a function or a method throws, and that neither its docstring nor its contract names. */
function silent(sources: Sources): string[] {
  return sources.declarations.filter(isFunction).flatMap((one) => {
    const thrown = sources.thrown(one);
    const own = thrown.filter(({ within }) => within === "");
    const returned = /\): (?:Promise<)?(\w+)/.exec(one.lines.join(" "))?.[1] ?? "";
    const ofMembers = thrown.flatMap((error) => {
      const member = sources.member(returned, error.within);
      return member === undefined ? [] : missingIn(sources, member, [error]);
    });
    return [...ofOwn(sources, one, own), ...ofMembers];
  });
}

/** Those of the body itself. A method that implements nothing, or an inner function, need not name them. */
function ofOwn(sources: Sources, one: Declaration, thrown: readonly Thrown[]): string[] {
  const contracts = sources.implemented(one);
  if (contracts.length > 0) return contracts.flatMap((contract) => missingIn(sources, contract, thrown));
  const isChecked = one.owner === undefined ? one.isExported || throwsOf(one.docstring).length > 0 : false;
  return isChecked ? missingIn(sources, one, thrown) : [];
}

/** Errors that a docstring names, and that the function cannot throw. */
function notThrown(sources: Sources): string[] {
  return sources.declarations
    .filter((one) => !isContract(one) && one.docstring.includes("@throws"))
    .flatMap((one) => {
      const reachable = [...sources.reachable(one)];
      return sources
        .named(one.docstring)
        .filter((named) => !builtin.includes(named) && !reachable.some((error) => sources.isA(error, named)))
        .map((named) => `${where(one)}: ${named}`);
    });
}

const all = new Sources(readSources());

test("functions and contracts name the errors that the bodies construct", () => {
  assert.deepEqual([...new Set(silent(all))].sort(), []);
});

test("named errors are constructed in the body, or constructed or named by a function that it calls", () => {
  assert.deepEqual(notThrown(all), []);
});

test("each @throws names an error class, or says whose error it is", () => {
  const unknown = all.declarations.flatMap((one) =>
    throwsOf(one.docstring)
      .filter((text) => all.named(`@throws ${text}`).length === 0 && !others.test(text) && !foreign.test(text))
      .map((text) => `${where(one)}: ${text}`),
  );
  assert.deepEqual(unknown, []);
});

const planted = `
/** An error. */
export class OneError extends Error {}
/** Another. */
export class OtherError extends OneError {}
/** A contract. */
export interface Thing {
  /** @throws OneError */
  run(): void;
  stop(): void;
}
/** 404 */
function notFound(): OneError {
  return new OneError();
}
function fail(): never {
  throw new TypeError();
}
/** Opens. */
export function openThing(): Thing {
  if (missing) fail();
  return {
    run() {
      throw new OtherError();
    },
    stop() {
      throw new OneError();
    },
  };
}
/**
 * Reads.
 * @throws OneError 400
 * @throws OtherError
 */
export function read(texts: string[]): void {
  texts.forEach((text) => {
    if (text === "") throw notFound();
  });
  try {
    throw new SyntaxError();
  } catch {
    return;
  }
}
class Running implements Thing {
  run(): void {
    throw new SyntaxError();
  }
}
`;

test("the check finds what is not named, and what is named and not thrown", () => {
  const sources = new Sources([parseSource("planted.ts", planted)]);
  assert.deepEqual(silent(sources), [
    "planted.ts: openThing: TypeError",
    "planted.ts: Thing.stop: OneError",
    "planted.ts: read: OneError 404",
    "planted.ts: Thing.run: SyntaxError",
  ]);
  assert.deepEqual(notThrown(sources), ["planted.ts: read: OtherError"]);
});
