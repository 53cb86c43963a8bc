/**
 * Rewrites the links of HTML pages while they pass. Only the values of rewritten links change; other
 * bytes remain as they are. Source:
 * k8s.io/apimachinery@v0.36.0/pkg/util/proxy/transport.go; HTML Standard, 13.2.5.
 */
import { pipeline, type Readable } from "node:stream";
import { createDeflateRaw, createGunzip, createGzip, createInflateRaw } from "node:zlib";
import { GoUrlError } from "../../lib/go-net/go-url.ts";
import { type Link, linksOfTag, readTag, type Tag } from "./html-tag.ts";
import { type ProxiedPage, rewriteUrl } from "./rewrite-url.ts";

/** Rewrites the body of a response. */
export type LinkRewriter = (body: Readable) => AsyncIterable<Buffer>;

/**
 * @param encoding of the body, as in `Content-Encoding`
 * @returns undefined for an unknown encoding, whose bodies are not changed
 */
export function linkRewriter(encoding: string, page: ProxiedPage): LinkRewriter | undefined {
  const rewrite = (body: AsyncIterable<Buffer>): AsyncGenerator<Buffer> => rewriteLinks(body, page);
  // The last stream reports the errors of all.
  if (encoding === "gzip") return (body) => pipeline(body, createGunzip(), rewrite, createGzip(), () => undefined);
  if (encoding === "deflate")
    return (body) => pipeline(body, createInflateRaw(), rewrite, createDeflateRaw(), () => undefined);
  return encoding === "" ? rewrite : undefined;
}

/** Links in longer tags are not rewritten. In bytes. */
const tagBytesMax = 64 << 10;

async function* rewriteLinks(body: AsyncIterable<Buffer>, page: ProxiedPage): AsyncGenerator<Buffer> {
  const scanner = new Scanner(page);
  for await (const piece of body) {
    const text = scanner.next(piece.toString("latin1"));
    if (text !== "") yield Buffer.from(text, "latin1");
  }
  const rest = scanner.end();
  if (rest !== "") yield Buffer.from(rest, "latin1");
}

/** Elements whose content has no tags. */
const rawElements: ReadonlySet<string> = new Set([
  "iframe",
  "noembed",
  "noframes",
  "noscript",
  "plaintext",
  "script",
  "style",
  "textarea",
  "title",
  "xmp",
]);

/** Splits a page, given in pieces, into tags and other text. Characters are bytes. */
class Scanner {
  readonly #page: ProxiedPage;
  /** What must follow before tags can start again: the end of a comment or of a raw element. */
  #until: RegExp | undefined;
  /** The start of something that is not complete yet. */
  #rest = "";

  constructor(page: ProxiedPage) {
    this.#page = page;
  }

  /** @returns the text that is complete */
  next(piece: string): string {
    const text = this.#rest + piece;
    const out: string[] = [];
    let at = 0;
    for (;;) {
      const step = this.#until === undefined ? this.#step(text, at) : this.#skip(text, at, this.#until);
      out.push(step.out);
      at = step.end;
      if (step.waits) break;
    }
    this.#rest = text.slice(at);
    return out.join("");
  }

  end(): string {
    return this.#rest;
  }

  #skip(text: string, at: number, until: RegExp): Step {
    until.lastIndex = at;
    const found = until.exec(text);
    if (found === null) {
      const end = Math.max(at, text.length - untilLengthMax);
      return { out: text.slice(at, end), end, waits: true };
    }
    this.#until = undefined;
    return { out: text.slice(at, until.lastIndex), end: until.lastIndex, waits: false };
  }

  #step(text: string, at: number): Step {
    const start = text.indexOf("<", at);
    if (start < 0) return { out: text.slice(at), end: text.length, waits: true };
    const before = text.slice(at, start);
    const opening = text.slice(start + 1, start + 4);
    if (opening.length < 3 && !/^[^!]/.test(opening)) return { out: before, end: start, waits: true };
    if (opening === "!--") {
      this.#until = /--!?>/g;
      return { out: `${before}<!`, end: start + 2, waits: false }; // `<!-->` is a comment, too.
    }
    if (!/^[A-Za-z]/.test(opening)) return { out: `${before}<`, end: start + 1, waits: false };
    const tag = readTag(text, start);
    if (tag === undefined) {
      if (text.length - start < tagBytesMax) return { out: before, end: start, waits: true };
      this.#until = />/g; // Otherwise each `<` in the long tag would be read to the end again.
      return { out: `${before}<`, end: start + 1, waits: false };
    }
    // Bounded: the names are those of `rawElements`, and nothing in the pattern repeats.
    if (rawElements.has(tag.name)) this.#until = new RegExp(`</${tag.name}(?=[ \\t\\n\\f\\r/>])`, "gi");
    return { out: before + this.#rewrite(text, start, tag), end: tag.end, waits: false };
  }

  #rewrite(text: string, start: number, tag: Tag): string {
    let at = start;
    let out = "";
    for (const link of linksOfTag(tag)) {
      const rewritten = rewrittenLink(text.slice(link.start, link.end), this.#page);
      if (rewritten === undefined) continue;
      out += text.slice(at, link.start) + (isQuoted(text, link) ? rewritten : `"${rewritten}"`);
      at = link.end;
    }
    return out + text.slice(at, tag.end);
  }
}

interface Step {
  readonly out: string;
  /** Where the next step begins. */
  readonly end: number;
  /** More text is needed. */
  readonly waits: boolean;
}

/** The longest text that ends a comment or raw element, and the character behind it. */
const untilLengthMax = "</plaintext>".length;

function isQuoted(text: string, { start }: Link): boolean {
  return text[start - 1] === '"' || text[start - 1] === "'";
}

/** @returns undefined for links that do not change */
function rewrittenLink(value: string, page: ProxiedPage): string | undefined {
  const url = unescapeText(Buffer.from(value, "latin1").toString());
  try {
    const rewritten = rewriteUrl(url, page);
    return rewritten === url ? undefined : Buffer.from(escapeText(rewritten)).toString("latin1");
  } catch (error) {
    if (error instanceof GoUrlError) return undefined; // Browsers may understand it.
    throw error;
  }
}

const named: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" };

/** Other named characters are rare in URLs and remain. */
function unescapeText(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));/g, (all, decimal, hex, name) => {
    if (name !== undefined) return named[name] as string;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : all;
  });
}

function escapeText(text: string): string {
  return text.replace(/[&'<>"\r]/g, (one) =>
    one === "&" ? "&amp;" : one === "<" ? "&lt;" : one === ">" ? "&gt;" : `&#${one.charCodeAt(0)};`,
  );
}
