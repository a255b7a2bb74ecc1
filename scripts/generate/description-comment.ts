/** Longest line of a comment. */
const width = 130;

/** Returns a description as a doc comment, wrapped; empty if there is none. */
export function descriptionComment(text: string, indent: string): string {
  const safe = text.replaceAll('*/', '*\\/').trim();
  if (safe === '') return '';
  const lines = safe.split('\n').flatMap((line) => wrapped(line.trimEnd(), width - indent.length - 3));
  if (lines.length === 1) return `${indent}/** ${lines[0]} */\n`;
  return `${indent}/**\n${lines.map((line) => `${indent} * ${line}`.trimEnd() + '\n').join('')}${indent} */\n`;
}

function wrapped(text: string, length: number): string[] {
  const lines: string[] = [];
  let rest = text;
  while (rest.length > length) {
    const space = rest.lastIndexOf(' ', length);
    const end = space > 0 ? space : rest.indexOf(' ', length);
    if (end < 0) break;
    lines.push(rest.slice(0, end));
    rest = rest.slice(end + 1);
  }
  return [...lines, rest];
}
