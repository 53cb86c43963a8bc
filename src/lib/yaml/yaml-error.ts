/**
 * Text that is not YAML, or that JSON cannot represent. The message is that of upstream's decoder,
 * such as `yaml: line 3: did not find expected key`.
 * Source: go-yaml v2, https://github.com/go-yaml/yaml.
 */
export class YamlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "YamlError";
  }
}

/**
 * A lexical error, found by the scanner. Upstream does not name the first line.
 * @param line counted from 0
 */
export function scannerError(problem: string, line: number): YamlError {
  return new YamlError(`yaml: ${line === 0 ? "" : `line ${line + 1}: `}${problem}`);
}

/**
 * A syntax error, found by the parser. Upstream names the line before that of the token.
 * @param line of the token, counted from 0
 */
export function parserError(problem: string, line: number): YamlError {
  return new YamlError(`yaml: ${line === 0 ? "" : `line ${line}: `}${problem}`);
}
