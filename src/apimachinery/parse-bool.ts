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

/**
 * Parses a boolean query parameter as upstream: every text is true, except `false` and `0`.
 * Source: `Convert_Slice_string_To_bool` in `k8s.io/apimachinery@v0.36.0/pkg/runtime/conversion.go`.
 *
 * @returns undefined without a value
 */
export function parseQueryBool(text: string | null): boolean | undefined {
  return text === null ? undefined : text !== "0" && text.toLowerCase() !== "false";
}
