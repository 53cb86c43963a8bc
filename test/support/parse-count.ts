/** Numbers in the options of the project's programs. */
import { InvalidArgumentError } from "commander";

/** @throws InvalidArgumentError, which commander reports with the name of the option */
export function parseCount(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError("is not a number from 0 to 999999999");
  return Number(text);
}
