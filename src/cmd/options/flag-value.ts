import { isIP } from 'node:net';
import { parseDuration } from '#apimachinery/runtime/duration';

/** What a flag holds: durations are milliseconds, lists keep their order, maps their last value for a key. */
export type FlagValue = boolean | number | string | readonly string[] | ReadonlyMap<string, string>;

const booleans: Readonly<Record<string, boolean>> = {
  1: true,
  t: true,
  T: true,
  true: true,
  TRUE: true,
  True: true,
  0: false,
  f: false,
  F: false,
  false: false,
  FALSE: false,
  False: false,
};

/**
 * The value of a flag from the texts that it was given, one for each time; throws an Error that says what would be right.
 * An empty text is the flag's zero value, whatever its type: launchers pass `--flag=` for what they have not set. A flag
 * that holds one value takes the last; lists and maps add up. Upstream: spf13/pflag, component-base/cli/flag.
 */
export function parseFlagValue(type: string, texts: readonly string[]): FlagValue {
  const last = texts.at(-1) ?? '';
  switch (type) {
    case 'bool':
    case 'version':
      return last === '' ? false : booleanOf(last);
    case 'int':
    case 'Level':
      return last === '' ? 0 : integerOf(last);
    case 'float':
    case 'float32':
      return last === '' ? 0 : floatOf(last);
    case 'duration':
      return last === '' ? 0 : parseDuration(last);
    case 'ip':
      if (last !== '' && isIP(last) === 0) throw new Error('must be an IP address');
      return last;
    case 'strings':
    case 'int32Slice':
      return listOf(texts.map(trimBrackets));
    case 'stringArray':
    case 'namedCertKey':
      return texts.map(trimBrackets).filter((text) => text !== '');
    case 'stringToString':
      return mapOf(texts.map(trimBrackets).flatMap(pairsOf));
    case 'mapStringString':
    case 'colonSeparatedMultimapStringString':
      return mapOf(listOf(texts.map(trimBrackets)));
    default:
      return last;
  }
}

/** Whether both are the same value. */
export function equalValues(a: FlagValue, b: FlagValue): boolean {
  if (typeof a !== 'object' || typeof b !== 'object') return a === b;
  const left = [...(a instanceof Map ? a.entries() : (a as readonly string[]))];
  const right = [...(b instanceof Map ? b.entries() : (b as readonly string[]))];
  return left.length === right.length && left.every((item, i) => String(item) === String(right[i]));
}

function booleanOf(text: string): boolean {
  const value = Object.hasOwn(booleans, text) ? booleans[text] : undefined;
  if (value === undefined) throw new Error('must be true or false');
  return value;
}

function integerOf(text: string): number {
  const value = /^[-+]?(0x[0-9a-f]+|[0-9]+)$/i.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw new Error('must be a whole number');
  return value;
}

function floatOf(text: string): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (!Number.isFinite(value)) throw new Error('must be a number');
  return value;
}

/** pflag prints lists in brackets, and so do people who copy what it prints. */
function trimBrackets(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
}

/** Comma separated, a value with a comma in double quotes. */
function listOf(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    if (text === '') return [];
    if (!text.includes('"')) return text.split(',');
    return [...text.matchAll(/"((?:[^"]|"")*)"(?:,|$)|([^,]*)(?:,|$)/g)]
      .filter((match) => match[0] !== '')
      .map((match) => match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
  });
}

/** A text with one `=` is one pair whose value may hold commas; one with more is comma separated. */
function pairsOf(text: string): string[] {
  return text.split('=').length === 2 ? [text.replace(/^"|"$/g, '')] : listOf([text]);
}

/** `key=value`, or a bare key for the empty value. */
function mapOf(items: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (const item of items) {
    const at = item.indexOf('=');
    map.set((at < 0 ? item : item.slice(0, at)).trim(), at < 0 ? '' : item.slice(at + 1).trim());
  }
  map.delete('');
  return map;
}
