/** What this library throws. Nothing else comes out of it. */
import type { Source } from "./source.ts";

/** One complaint, with its place. */
export interface Issue {
  /** In UTF-16 units from the start of the text; -1 when there is no place. */
  readonly offset: number;
  readonly message: string;
}

/**
 * The text does not parse, does not check, or cannot be planned.
 * `message` is what upstream prints: all issues by place, each with the line it is in and a caret below.
 */
export class CelSyntaxError extends Error {
  readonly source: Source;
  readonly issues: readonly Issue[];
  /** @param message what upstream says without a place, as it does of constants that cannot be made */
  constructor(source: Source, issues: readonly Issue[], message: string = source.describe(issues)) {
    super(message);
    this.name = "CelSyntaxError";
    this.source = source;
    this.issues = issues;
  }
}

export type CelErrorReason = "evaluation" | "cost" | "interrupted";

/** An evaluation came to no value. `message` is upstream's, such as `no such key: x`. */
export class CelError extends Error {
  /** `cost`: the limit was passed; `interrupted`: whoever asked no longer waits. */
  readonly reason: CelErrorReason;
  /** Units spent until then. */
  readonly cost: number;
  /** Of the expression that failed, when it was planned so that this is known. */
  readonly offset: number | undefined;
  constructor(message: string, reason: CelErrorReason, cost: number, offset?: number) {
    super(message);
    this.offset = offset;
    this.name = "CelError";
    this.reason = reason;
    this.cost = cost;
  }
}
