/**
 * CBOR diagnostic notation (RFC 8949, section 8), which errors show of a body. Upstream: fxamacker/cbor diagnose.go, with byte strings as
 * text.
 */
import { type Buffer, isUtf8 } from 'node:buffer';
import { CborCursor, Info, Major } from './cbor-wire.ts';

/** An open container: its closing text and its separators. */
interface Open {
  readonly end: string;
  readonly isMap: boolean;
  /** Number of remaining items; Infinity for indefinite length. */
  left: number;
  items: number;
}

/** Returns the notation of one well-formed item. */
export function diagnoseCbor(bytes: Buffer): string {
  const cursor = new CborCursor(bytes);
  const parts: string[] = [];
  const open: Open[] = [];
  const next = (): void => {
    const container = notate(cursor, parts);
    if (container) open.push(container);
  };
  next();
  for (let top = open.at(-1); top; top = open.at(-1)) {
    if (top.left === 0 || (top.left === Infinity && cursor.breaks())) {
      parts.push(top.end);
      open.pop();
      continue;
    }
    if (top.items > 0) parts.push(top.isMap && top.items % 2 === 1 ? ': ' : ', ');
    top.left -= 1;
    top.items += 1;
    next();
  }
  return parts.join('');
}

/** Writes one item; for a container, its beginning. */
function notate(cursor: CborCursor, parts: string[]): Open | undefined {
  cursor.head();
  const { major, info, argument } = cursor;
  const isIndefinite = info === Info.Indefinite;
  switch (major) {
    case Major.Unsigned:
      parts.push(String(cursor.exactArgument()));
      return undefined;
    case Major.Negative:
      parts.push(String(-1n - cursor.exactArgument()));
      return undefined;
    case Major.Bytes:
    case Major.Text: {
      if (!isIndefinite) {
        parts.push(stringOf(cursor.string(), major));
        return undefined;
      }
      if (!cursor.breaks()) return begin(parts, '(_ ', ')', Infinity);
      parts.push(major === Major.Bytes ? "''_" : '""_');
      return undefined;
    }
    case Major.Array:
      return begin(parts, isIndefinite ? '[_ ' : '[', ']', isIndefinite ? Infinity : argument);
    case Major.Map:
      return begin(parts, isIndefinite ? '{_ ' : '{', '}', isIndefinite ? Infinity : 2 * argument);
    case Major.Tag:
      return begin(parts, `${cursor.exactArgument()}(`, ')', 1);
    default:
      parts.push(simpleOf(cursor));
      return undefined;
  }
}

function begin(parts: string[], head: string, end: string, left: number): Open {
  parts.push(head);
  return { end, isMap: end === '}', left, items: 0 };
}

const simpleNames: Readonly<Record<number, string>> = {
  [Info.False]: 'false',
  [Info.True]: 'true',
  [Info.Null]: 'null',
  [Info.Undefined]: 'undefined',
};

function simpleOf(cursor: CborCursor): string {
  if (cursor.info >= Info.Float16) return floatOf(cursor.float());
  return simpleNames[cursor.argument] ?? `simple(${cursor.argument})`;
}

/** Formats a float, always with a fraction. */
function floatOf(value: number): string {
  if (Object.is(value, -0)) return '-0.0';
  const [mantissa = '', exponent] = String(value).split('e');
  return `${mantissa.includes('.') ? mantissa : `${mantissa}.0`}${exponent === undefined ? '' : `e${exponent}`}`;
}

function stringOf(bytes: Buffer, major: Major): string {
  if (major === Major.Text) return quoted(bytes.toString('utf8'), '"');
  return bytes.length > 0 && isUtf8(bytes) ? quoted(bytes.toString('utf8'), "'") : `h'${bytes.toString('hex')}'`;
}

const escapes: Readonly<Record<string, string>> = { '\t': '\\t', '\n': '\\n', '\r': '\\r', '\\': '\\\\' };

function quoted(text: string, quote: string): string {
  let out = quote;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (char === quote) out += `\\${quote}`;
    else if (char in escapes) out += escapes[char]!;
    else if (char >= ' ' && char <= '~') out += char;
    else out += `\\u${text.charCodeAt(i).toString(16).padStart(4, '0')}`;
  }
  return out + quote;
}
