/** String and bytes literals. Upstream: cel-go parser/unescape.go. */

/** Invalid content of a literal; `message` is cel-go's. */
export class UnescapeError extends Error {
  override readonly name = 'UnescapeError';
}

const single: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '`': '`',
  '?': '?',
};

/** Returns the value of a string literal, including quotes and prefix. Throws UnescapeError. */
export function unescapeString(literal: string): string {
  const { raw, body } = strip(literal);
  if (raw || !body.includes('\\')) return body;
  let out = '';
  for (const part of parts(body)) {
    if (typeof part === 'string') {
      out += part;
      continue;
    }
    if (part.code > 0x10ffff || (part.code >= 0xd800 && part.code <= 0xdfff)) throw new UnescapeError('invalid unicode code point');
    out += String.fromCodePoint(part.code);
  }
  return out;
}

/** Returns the value of a bytes literal without its leading `b`. Throws UnescapeError. */
export function unescapeBytes(literal: string): Uint8Array {
  const { raw, body } = strip(literal);
  if (raw || !body.includes('\\')) return Buffer.from(body);
  const out: Uint8Array[] = [];
  for (const part of parts(body)) {
    if (typeof part === 'string') out.push(Buffer.from(part));
    else if (part.unicode) throw new UnescapeError('unable to unescape string');
    else out.push(Uint8Array.of(part.code & 0xff));
  }
  return Buffer.concat(out);
}

function strip(literal: string): { raw: boolean; body: string } {
  const text = literal.replaceAll('\r\n', '\n').replaceAll('\r', '\n');
  const raw = text[0] === 'r' || text[0] === 'R';
  const quoted = raw ? text.slice(1) : text;
  const triple = quoted.length >= 6 && (quoted.startsWith("'''") || quoted.startsWith('"""'));
  return { raw, body: triple ? quoted.slice(3, -3) : quoted.slice(1, -1) };
}

/**
 * Yields runs of plain text and escaped numbers: `unicode` is true for \u and \U, false for bytes and octals. The lexer has
 * checked that escapes are complete.
 */
function* parts(body: string): Generator<string | { code: number; unicode: boolean }> {
  let at = 0;
  while (at < body.length) {
    const slash = body.indexOf('\\', at);
    if (slash < 0) {
      yield body.slice(at);
      return;
    }
    if (slash > at) yield body.slice(at, slash);
    const kind = body[slash + 1]!;
    const plain = single[kind];
    if (plain !== undefined) {
      yield plain;
      at = slash + 2;
      continue;
    }
    const digits = kind === 'x' || kind === 'X' ? 2 : kind === 'u' ? 4 : kind === 'U' ? 8 : 0;
    const code =
      digits > 0 ? Number.parseInt(body.slice(slash + 2, slash + 2 + digits), 16) : Number.parseInt(body.slice(slash + 1, slash + 4), 8);
    yield { code, unicode: digits > 2 };
    at = slash + (digits > 0 ? 2 + digits : 4);
  }
}
