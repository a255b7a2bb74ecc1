/** Lays JSON text out with two spaces, as Go's json.Indent does: empty objects and arrays stay `{}` and `[]`. Scalars are not touched. */
export function indentJson(text: string): string {
  let out = '';
  let depth = 0;
  let start = 0;
  const breakLine = (): string => `\n${'  '.repeat(depth)}`;
  for (let at = 0; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case 34: // a string: to its end
        for (at += 1; text.charCodeAt(at) !== 34; at += 1) if (text.charCodeAt(at) === 92) at += 1;
        break;
      case 123:
      case 91: {
        // { [
        const next = text.charCodeAt(at + 1);
        if (next === 125 || next === 93) {
          at += 1;
          break;
        }
        depth += 1;
        out += text.slice(start, at + 1) + breakLine();
        start = at + 1;
        break;
      }
      case 125:
      case 93: // } ]
        depth -= 1;
        out += text.slice(start, at) + breakLine();
        start = at;
        break;
      case 44: // ,
        out += text.slice(start, at + 1) + breakLine();
        start = at + 1;
        break;
      case 58: // :
        out += `${text.slice(start, at + 1)} `;
        start = at + 1;
        break;
      default:
    }
  }
  return out + text.slice(start);
}
