/** Parses comma-separated values as strictly as Go's encoding/csv. Source: RFC 4180. */

interface CsvRecord {
  /** The line of its first character, from 1. */
  readonly line: number;
  readonly fields: readonly string[];
}

/** Text that is not CSV. The message contains line and column, from 1, but not the text. */
export class CsvError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "CsvError";
  }
}

/**
 * Parses CSV text.
 * @returns one record for each line that is not empty; quoted fields may contain line breaks
 * @throws CsvError
 */
export function parseCsv(text: string): CsvRecord[] {
  const records: CsvRecord[] = [];
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  for (let at = 0; at < lines.length; at++) {
    if (lines[at] === "") continue;
    const { fields, last } = readRecord(lines, at);
    records.push({ line: at + 1, fields });
    at = last;
  }
  return records;
}

function readRecord(lines: readonly string[], first: number): { fields: string[]; last: number } {
  const fields: string[] = [];
  let last = first;
  let line = lines[last] as string;
  let at = 0;
  const fail = (column: number, what: string): CsvError => {
    const start = last === first ? "" : `record on line ${first + 1}; `;
    return new CsvError(`${start}parse error on line ${last + 1}, column ${column + 1}: ${what}`);
  };
  for (;;) {
    if (line[at] !== '"') {
      const comma = line.indexOf(",", at);
      const field = comma < 0 ? line.slice(at) : line.slice(at, comma);
      const quote = field.indexOf('"');
      if (quote >= 0) throw fail(at + quote, 'bare " in non-quoted-field');
      fields.push(field);
      if (comma < 0) return { fields, last };
      at = comma + 1;
      continue;
    }
    let field = "";
    at += 1;
    for (;;) {
      const quote = line.indexOf('"', at);
      if (quote < 0) {
        field += `${line.slice(at)}\n`;
        if (last + 1 >= lines.length) throw fail(line.length, 'extraneous or missing " in quoted-field');
        last += 1;
        line = lines[last] as string;
        at = 0;
        continue;
      }
      field += line.slice(at, quote);
      at = quote + 1;
      if (line[at] !== '"') break;
      field += '"';
      at += 1;
    }
    fields.push(field);
    if (at === line.length) return { fields, last };
    if (line[at] !== ",") throw fail(at - 1, 'extraneous or missing " in quoted-field');
    at += 1;
  }
}
