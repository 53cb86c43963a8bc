/**
 * Parses the boolean texts that flags accept, as Go's `strconv.ParseBool` does.
 * Source: https://pkg.go.dev/strconv#ParseBool.
 *
 * @returns undefined for other text
 */
export function parseBool(text: string): boolean | undefined {
  if (["1", "t", "T", "TRUE", "true", "True"].includes(text)) return true;
  if (["0", "f", "F", "FALSE", "false", "False"].includes(text)) return false;
  return undefined;
}
