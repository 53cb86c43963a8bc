/** A text that is no YAML, or that JSON cannot hold. The message is that of upstream's decoder, such as `yaml: line 3: did not find expected key`. */
export class YamlError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "YamlError";
  }
}

/** A mistake of spelling, found by the scanner on this line, counted from 0; upstream does not name the first line. */
export function scannerError(problem: string, line: number): YamlError {
  return new YamlError(`yaml: ${line === 0 ? "" : `line ${line + 1}: `}${problem}`);
}

/** A mistake of grammar, found by the parser at a token of this line, counted from 0; upstream names the line before. */
export function parserError(problem: string, line: number): YamlError {
  return new YamlError(`yaml: ${line === 0 ? "" : `line ${line}: `}${problem}`);
}
