/** Tables of text. */

/** @param rows the titles, then the rows; each has as many cells @returns the lines of the table, with aligned columns */
export function formatTable(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] as string).length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column] as number))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}
