/** Splits a CSV line into fields; a field with commas is enclosed in double quotes. */
export function parseCsvLine(line: string): string[] {
  const fields: string[] = [];
  let at = 0;
  while (at <= line.length) {
    if (line[at] === '"') {
      let value = '';
      for (at += 1; at < line.length; at += 1) {
        if (line[at] !== '"') value += line[at];
        else if (line[at + 1] === '"') {
          value += '"';
          at += 1;
        } else break;
      }
      fields.push(value);
      at = line.indexOf(',', at) < 0 ? line.length + 1 : line.indexOf(',', at) + 1;
    } else {
      const comma = line.indexOf(',', at);
      fields.push(line.slice(at, comma < 0 ? undefined : comma).trim());
      at = comma < 0 ? line.length + 1 : comma + 1;
    }
  }
  return fields;
}
