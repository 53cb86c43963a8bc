import { FlagError } from "../flags/contract.ts";

/**
 * Checks that the words of another command follow `--`, which separates its options from those of this program.
 *
 * @param name the command of this program: `coxswain record`
 * @param words the other command, which ends the arguments
 * @param argv the arguments of this command
 * @throws FlagError
 */
export function checkCommandWords(name: string, words: readonly string[], argv: readonly string[]): void {
  const at = argv.indexOf("--");
  const before = at === -1 ? words.length : words.length - (argv.length - at - 1);
  if (before <= 0) return;
  if (at !== -1)
    throw new FlagError(
      `unexpected before --: ${words
        .slice(0, before)
        .filter((word) => word !== "--")
        .join(" ")}`,
    );
  const own = argv.slice(0, -words.length);
  throw new FlagError(`-- is missing before the command: ${[name, ...own, "--", ...words].join(" ")}`);
}
