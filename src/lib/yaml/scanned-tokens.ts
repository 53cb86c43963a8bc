/** The tokens of a long text, which are scanned before they are parsed. Source: the grammar of YAML 1.1 as go-yaml v2 implements it. */
import type { Pause } from "../pauses.ts";
import { Scanner, type Token, type Tokens } from "./scanner.ts";
import { YamlError } from "./yaml-error.ts";

/** Tokens that are scanned between two calls of a pause. */
const stepTokens = 1024;

/** Tokens in the order of the text, up to the first error, which is thrown where the text has it. */
export class ScannedTokens implements Tokens {
  readonly #tokens: readonly Token[];
  readonly #error: YamlError | undefined;
  #next = 0;

  private constructor(tokens: readonly Token[], error: YamlError | undefined) {
    this.#tokens = tokens;
    this.#error = error;
  }

  /** Scans a text. A parser that stops at the end of the first document does not see what follows. */
  static async of(text: string, pause: Pause): Promise<ScannedTokens> {
    const scanner = new Scanner(text);
    const tokens: Token[] = [];
    try {
      for (;;) {
        const token = scanner.take();
        if (tokens.push(token) % stepTokens === 0) await pause();
        if (token.type === "streamEnd") return new ScannedTokens(tokens, undefined);
      }
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      return new ScannedTokens(tokens, error);
    }
  }

  peek(): Token {
    const token = this.#tokens[this.#next] ?? (this.#error === undefined ? this.#tokens.at(-1) : undefined);
    if (token === undefined) throw this.#error;
    return token;
  }

  take(): Token {
    const token = this.peek();
    this.#next++;
    return token;
  }
}
