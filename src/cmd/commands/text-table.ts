/** Control characters, and those that change the direction or the lines of a text. */
const controls = /[\p{Cc}\u2028\u2029\u202a-\u202e\u2066-\u2069]/gu;

/**
 * Returns a table as text: a line of column names, then a line for each row, with aligned cells. Control characters are escaped, because
 * names and messages come from users of a cluster, and a terminal obeys some of them.
 */
export function textTable(columns: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [columns, ...rows].map((row) => row.map((cell) => cell.replaceAll(controls, escaped)));
  const widths = columns.map((_, i) => Math.max(...all.map((row) => (row[i] as string).length)));
  return all
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] as number))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** Returns `\\u001b`. */
function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
