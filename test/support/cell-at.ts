import type { KubeObject } from "../../src/apimachinery/object.ts";
import type { Column, TimedCell } from "../../src/catalog/strategy-contract.ts";

/** The value of a cell. @param now milliseconds since 1970 */
export function cellAt({ value }: Column, object: KubeObject, now: number): unknown {
  const cell = value(object);
  return typeof cell === "function" ? (cell as TimedCell)(now) : cell;
}
