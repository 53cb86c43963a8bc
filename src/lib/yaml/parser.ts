/**
 * Parses tokens to the tree of the first document. Source: the grammar of YAML 1.1 as go-yaml v2
 * implements it.
 */
import type { Pause } from "../pauses.ts";
import { ScannedTokens } from "./scanned-tokens.ts";
import { depthMax, Scanner, type Token, type Tokens, type TokenType } from "./scanner.ts";
import { parserError, scannerError, YamlError } from "./yaml-error.ts";

/** A scalar. */
export interface ScalarNode {
  readonly kind: "scalar";
  readonly text: string;
  /** The full tag; empty without one. */
  readonly tag: string;
  /** Whether the type follows from the text. */
  readonly implicit: boolean;
  /** Counted from 1, as for every node. */
  readonly line: number;
}

/** A list. */
interface SequenceNode {
  readonly kind: "sequence";
  readonly items: Node[];
  readonly line: number;
}

/** A mapping. */
export interface MappingNode {
  readonly kind: "mapping";
  /** Alternating keys and values. */
  readonly items: Node[];
  readonly line: number;
}

/** A reference to a node with an anchor. */
export interface AliasNode {
  readonly kind: "alias";
  readonly name: string;
  readonly target: Node;
  readonly line: number;
}

/** Any node. */
export type Node = ScalarNode | SequenceNode | MappingNode | AliasNode;

/**
 * Parses the first document of a text.
 * @param text without control characters
 * @returns undefined for a text without a document
 * @throws YamlError
 */
export function parseYaml(text: string): Node | undefined {
  return new Parser(new Scanner(text)).document();
}

/**
 * As {@link parseYaml}: scans the text in steps, and parses it then.
 * @param pause called between them
 */
export async function parseYamlInSteps(text: string, pause: Pause): Promise<Node | undefined> {
  const tokens = await ScannedTokens.of(text, pause);
  await pause();
  const root = new Parser(tokens).document();
  await pause();
  return root;
}

const directives: ReadonlySet<TokenType> = new Set(["versionDirective", "tagDirective"]);
const noContent: ReadonlySet<TokenType> = new Set([...directives, "documentStart", "documentEnd", "streamEnd"]);
const noBlockItem: ReadonlySet<TokenType> = new Set(["-", "blockEnd"]);
const noIndentlessItem: ReadonlySet<TokenType> = new Set(["-", "?", ":", "blockEnd"]);
const noBlockMember: ReadonlySet<TokenType> = new Set(["?", ":", "blockEnd"]);

interface Properties {
  readonly line: number;
  readonly anchor: string;
  readonly tag: string;
}

/** The context of a node. In a member of a block, a list may have the indentation of its key. */
type Context = "block" | "blockMember" | "flow";

class Parser {
  readonly #scanner: Tokens;
  readonly #anchors = new Map<string, Node>();
  readonly #handles = new Map<string, string>();
  #depth = 0;

  constructor(scanner: Tokens) {
    this.#scanner = scanner;
  }

  document(): Node | undefined {
    const first = this.#scanner.peek();
    if (first.type === "streamEnd") return undefined;
    if (directives.has(first.type) || first.type === "documentStart") this.#head();
    this.#handles.set("!", this.#handles.get("!") ?? "!");
    this.#handles.set("!!", this.#handles.get("!!") ?? "tag:yaml.org,2002:");
    const token = this.#scanner.peek();
    const root = token !== first && noContent.has(token.type) ? empty(token.line) : this.#node("block");
    this.#scanner.peek(); // The text that follows must begin with a valid token.
    return root;
  }

  #head(): void {
    let hasVersion = false;
    for (let token = this.#scanner.peek(); directives.has(token.type); token = this.#scanner.peek()) {
      if (token.type === "versionDirective") {
        if (hasVersion) throw parserError("found duplicate %YAML directive", token.line);
        if (token.text !== "1.1") throw parserError("found incompatible YAML document", token.line);
        hasVersion = true;
      } else {
        if (this.#handles.has(token.text)) throw parserError("found duplicate %TAG directive", token.line);
        this.#handles.set(token.text, token.suffix);
      }
      this.#scanner.take();
    }
    const start = this.#scanner.peek();
    if (start.type !== "documentStart") throw parserError("did not find expected <document start>", start.line);
    this.#scanner.take();
  }

  #node(context: Context): Node {
    const token = this.#scanner.peek();
    if (token.type === "alias") return this.#alias();
    const properties = this.#properties(token.line);
    const next = this.#scanner.peek();
    switch (next.type) {
      case "scalar":
        this.#scanner.take();
        return this.#scalar(next, properties);
      case "[":
        return this.#collection("sequence", properties, (items) => this.#flowSequence(items));
      case "{":
        return this.#collection("mapping", properties, (items) => this.#flowMapping(items));
      case "-":
        if (context !== "blockMember") break;
        return this.#collection("sequence", properties, (items) => this.#indentlessSequence(items));
      case "blockSequence":
        if (context === "flow") break;
        return this.#collection("sequence", properties, (items) => this.#blockSequence(items));
      case "blockMapping":
        if (context === "flow") break;
        return this.#collection("mapping", properties, (items) => this.#blockMapping(items));
    }
    if (properties.anchor === "" && properties.tag === "")
      throw parserError("did not find expected node content", next.line);
    return this.#withAnchor(
      { kind: "scalar", text: "", tag: properties.tag, implicit: properties.tag === "", line: properties.line + 1 },
      properties,
    );
  }

  #alias(): AliasNode {
    const { text, line } = this.#scanner.take();
    const target = this.#anchors.get(text);
    if (target === undefined) throw new YamlError(`yaml: unknown anchor '${text}' referenced`);
    return { kind: "alias", name: text, target, line: line + 1 };
  }

  #properties(line: number): Properties {
    let anchor = "";
    let tag = "";
    for (let token = this.#scanner.peek(); ; token = this.#scanner.peek()) {
      if (token.type === "anchor" && anchor === "") anchor = token.text;
      else if (token.type === "tag" && tag === "") tag = this.#resolveTag(token);
      else return { line, anchor, tag };
      this.#scanner.take();
    }
  }

  #resolveTag({ text, suffix, line }: Token): string {
    if (text === "") return suffix;
    const prefix = this.#handles.get(text);
    if (prefix === undefined) throw parserError("found undefined tag handle", line);
    return prefix + suffix;
  }

  #scalar({ text, plain }: Token, properties: Properties): Node {
    const { tag, line } = properties;
    return this.#withAnchor(
      { kind: "scalar", text, tag, implicit: tag === "" ? plain : tag === "!", line: line + 1 },
      properties,
    );
  }

  #withAnchor<T extends Node>(node: T, { anchor }: Properties): T {
    if (anchor !== "") this.#anchors.set(anchor, node);
    return node;
  }

  #collection(kind: "sequence" | "mapping", properties: Properties, read: (items: Node[]) => void): Node {
    const node = this.#withAnchor({ kind, items: [], line: properties.line + 1 }, properties);
    if (++this.#depth > depthMax) throw scannerError(`exceeded max depth of ${depthMax}`, properties.line);
    read(node.items);
    this.#depth--;
    return node;
  }

  /** The node after an indicator, which is empty when something else follows. */
  #nodeAfter(indicator: Token, none: ReadonlySet<TokenType>, context: Context): Node {
    return none.has(this.#scanner.peek().type) ? empty(indicator.line) : this.#node(context);
  }

  #blockSequence(items: Node[]): void {
    this.#scanner.take();
    for (;;) {
      const token = this.#scanner.take();
      if (token.type === "blockEnd") return;
      if (token.type !== "-") throw parserError("did not find expected '-' indicator", token.line);
      items.push(this.#nodeAfter(token, noBlockItem, "block"));
    }
  }

  #indentlessSequence(items: Node[]): void {
    while (this.#scanner.peek().type === "-")
      items.push(this.#nodeAfter(this.#scanner.take(), noIndentlessItem, "block"));
  }

  #blockMapping(items: Node[]): void {
    this.#scanner.take();
    for (;;) {
      const token = this.#scanner.take();
      if (token.type === "blockEnd") return;
      if (token.type !== "?") throw parserError("did not find expected key", token.line);
      items.push(this.#nodeAfter(token, noBlockMember, "blockMember"));
      const value = this.#scanner.peek();
      if (value.type === ":") items.push(this.#nodeAfter(this.#scanner.take(), noBlockMember, "blockMember"));
      else items.push(empty(value.line));
    }
  }

  #flowSequence(items: Node[]): void {
    this.#scanner.take();
    for (let first = true; this.#moreInFlow("]", first); first = false) {
      const token = this.#scanner.peek();
      items.push(token.type === "?" ? this.#pair() : this.#node("flow"));
    }
    this.#scanner.take();
  }

  /** A mapping of one member, written without braces. */
  #pair(): Node {
    const start = this.#scanner.take();
    const noKey = this.#scanner.peek();
    let key: Node;
    if (noKey.type === ":" || noKey.type === "," || noKey.type === "]") {
      this.#scanner.take(); // Go-yaml skips the token, whatever it is.
      key = empty(noKey.line);
    } else key = this.#node("flow");
    return { kind: "mapping", items: [key, this.#flowValue("]")], line: start.line + 1 };
  }

  #flowMapping(items: Node[]): void {
    this.#scanner.take();
    for (let first = true; this.#moreInFlow("}", first); first = false) {
      const token = this.#scanner.peek();
      if (token.type !== "?") {
        items.push(this.#node("flow"), empty(this.#scanner.peek().line));
        continue;
      }
      this.#scanner.take();
      const key = this.#scanner.peek();
      items.push(
        key.type === ":" || key.type === "," || key.type === "}" ? empty(key.line) : this.#node("flow"),
        this.#flowValue("}"),
      );
    }
    this.#scanner.take();
  }

  #flowValue(closer: "]" | "}"): Node {
    const token = this.#scanner.peek();
    if (token.type !== ":") return empty(token.line);
    this.#scanner.take();
    const value = this.#scanner.peek();
    return value.type === "," || value.type === closer ? empty(value.line) : this.#node("flow");
  }

  /** Whether another entry follows. Takes the comma before it. */
  #moreInFlow(closer: "]" | "}", first: boolean): boolean {
    const token = this.#scanner.peek();
    if (token.type === closer) return false;
    if (first) return true;
    if (token.type !== ",") throw parserError(`did not find expected ',' or '${closer}'`, token.line);
    this.#scanner.take();
    return this.#scanner.peek().type !== closer;
  }
}

/** @param line counted from 0 */
function empty(line: number): ScalarNode {
  return { kind: "scalar", text: "", tag: "", implicit: true, line: line + 1 };
}
