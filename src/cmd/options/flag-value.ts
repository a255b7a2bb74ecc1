import { isIP } from 'node:net';
import { parseDuration } from '#apimachinery/runtime/duration';

/** Value of a flag. Durations are milliseconds, lists keep their order, and maps keep the last value of a key. */
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
 * Parses the texts that a flag was given, one per occurrence. Throws an Error that describes a valid value. An empty text is the zero value
 * of any type, because launchers pass `--flag=` for unset flags. Scalar flags take the last text; lists and maps accumulate. Upstream:
 * spf13/pflag, component-base/cli/flag.
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

/** True if both values are equal. */
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

/** Removes the brackets around a list. pflag prints them, so users copy them. */
function trimBrackets(text: string): string {
  return text.startsWith('[') && text.endsWith(']') ? text.slice(1, -1) : text;
}

/** Splits comma-separated values; a value that contains a comma is in double quotes. */
function listOf(texts: readonly string[]): string[] {
  return texts.flatMap((text) => {
    if (text === '') return [];
    if (!text.includes('"')) return text.split(',');
    return [...text.matchAll(/"((?:[^"]|"")*)"(?:,|$)|([^,]*)(?:,|$)/g)]
      .filter((match) => match[0] !== '')
      .map((match) => match[1]?.replaceAll('""', '"') ?? match[2] ?? '');
  });
}

/** Splits a text into pairs. A text with a single `=` is one pair, whose value may contain commas; any other text is comma-separated. */
function pairsOf(text: string): string[] {
  return text.split('=').length === 2 ? [text.replace(/^"|"$/g, '')] : listOf([text]);
}

/** Parses `key=value` items; a bare key has the empty value. */
function mapOf(items: readonly string[]): Map<string, string> {
  const map = new Map<string, string>();
  for (const item of items) {
    const at = item.indexOf('=');
    map.set((at < 0 ? item : item.slice(0, at)).trim(), at < 0 ? '' : item.slice(at + 1).trim());
  }
  map.delete('');
  return map;
}
