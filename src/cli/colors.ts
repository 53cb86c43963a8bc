/** Colors of output, which only terminals get. */
import { styleText } from "node:util";

/** The values of `--color`. */
export const colorModes = ["auto", "always", "never"] as const;
export type ColorMode = (typeof colorModes)[number];

/** The format of a text, as `styleText` of `node:util` names it. */
export type TextFormat = "bold" | "green" | "red" | "yellow";

/**
 * Returns whether the text on a stream is colored: as `--color` says, or on terminals unless
 * NO_COLOR is set or TERM is dumb. Source: no-color.org
 */
export function hasColors(mode: ColorMode, stream: { readonly isTTY?: boolean }, env: NodeJS.ProcessEnv): boolean {
  if (mode !== "auto") return mode === "always";
  return stream.isTTY === true && (env.NO_COLOR ?? "") === "" && env.TERM !== "dumb";
}

/** Formats a text if its stream has colors. */
export function colored(text: string, format: TextFormat, isColored: boolean | undefined): string {
  return isColored === true ? styleText(format, text, { validateStream: false }) : text;
}
