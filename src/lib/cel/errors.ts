/** The errors that this library throws. */
import type { Issue, Source } from "./source.ts";

/**
 * The text does not parse, does not type-check, or cannot be planned. `message` is that of cel-go:
 * all issues by position, each with its line and a caret below.
 *
 * @example
 * ```ts
 * import { CelSyntaxError, kubernetesEnvironment } from "coxswain/cel";
 *
 * try {
 *   kubernetesEnvironment([1, 36]).compile("1 + 'a'");
 * } catch (error) {
 *   if (error instanceof CelSyntaxError) console.log(error.issues[0]?.offset); // 2
 * }
 * ```
 */
export class CelSyntaxError extends Error {
  readonly source: Source;
  readonly issues: readonly Issue[];
  /** @param message for errors that cel-go reports without a position, such as invalid constants */
  constructor(source: Source, issues: readonly Issue[], message: string = source.describe(issues)) {
    super(message);
    this.name = "CelSyntaxError";
    this.source = source;
    this.issues = issues;
  }
}

/** An evaluation without a value. `message` is that of cel-go, such as `no such key: x`. */
export class CelError extends Error {
  /** `cost`: the cost limit was exceeded; `interrupted`: `isInterrupted` returned true. */
  readonly reason: "evaluation" | "cost" | "interrupted";
  /** Units spent before the error. */
  readonly cost: number;
  /** Of the failed expression; set only in programs planned with `locateFailures`. */
  readonly offset: number | undefined;
  constructor(message: string, reason: CelError["reason"], cost: number, offset?: number) {
    super(message);
    this.offset = offset;
    this.name = "CelError";
    this.reason = reason;
    this.cost = cost;
  }
}
