/** What an attack is. */
import type { Target } from "./target.ts";

/** One attack: a row of the report. */
export interface Attack {
  /** A letter that groups the attacks of one kind. */
  readonly group: string;
  readonly name: string;
  /** The size of the input at full scale; each attack defines what it counts. */
  readonly size: number;
  readonly bound: Bound;
  /** Objects that the attack needs, in the namespace of the run. */
  prepare?(target: Target): Promise<void>;
  /** @throws Error when the server breaks the connection, hangs, or answers what it must not */
  run(target: Target, size: number): Promise<Sent>;
}

/** What the client sent, and what it received. */
export interface Sent {
  readonly bytes: number;
  /** The status of the answer, or what else the server did. */
  readonly answer: string;
}

/** How much CPU time the server may use. */
export interface Bound {
  readonly cpuMs: number;
  readonly cpuMsPer100KB: number;
  /** The longest time in which the server answers no other request; {@link stallMsMax} by default. */
  readonly stallMs?: number;
}

/** Of attacks that are many requests, each of which the server may answer, the bound is higher. */
export const stallMsMax = 50;

/** Of every attack that names no other. */
export const usualBound: Bound = { cpuMs: 5, cpuMsPer100KB: 5 };

/** Of attacks with expressions. */
export const expressionBound: Bound = { cpuMs: 25, cpuMsPer100KB: 25 };
