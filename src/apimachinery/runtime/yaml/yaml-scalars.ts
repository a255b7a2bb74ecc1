/** Resolves types of YAML scalars. Upstream: go.yaml.in/yaml/v2 resolve.go. */
import { numberOf, rereadFloat } from '../numbers.ts';
import { formatFloat } from '../quote.ts';
import { YamlError } from './yaml-error.ts';

/** Resolves a scalar with or without a tag. Throws YamlError if its text does not match the tag. */
export function resolveTagged(text: string, tag: string, isImplicit: boolean): unknown {
  if (tag === '') return isImplicit ? resolveScalar(text) : text;
  if (tag === 'tag:yaml.org,2002:binary') return decodeBinary(text);
  const kind = shortTags[tag];
  if (kind === undefined || kind === '!!str') return text;
  const value = resolveScalar(text);
  if (kind === '!!timestamp' && typeof value === 'string') return text;
  const found = tagOf(value);
  if (found === kind) return value;
  if (kind === '!!float' && typeof value === 'bigint') return new Float(Number(value));
  throw new YamlError(`yaml: cannot decode ${found} \`${text}\` as a ${kind}`);
}

function decodeBinary(text: string): string {
  // Go's base64 skips line breaks, and rejects all other invalid characters.
  const base64 = text.replace(/[\r\n]/g, '');
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64))
    throw new YamlError('yaml: !!binary value contains invalid base64 data');
  return Buffer.from(base64, 'base64').toString('utf8');
}

const shortTags: Readonly<Record<string, string | undefined>> = {
  'tag:yaml.org,2002:str': '!!str',
  'tag:yaml.org,2002:bool': '!!bool',
  'tag:yaml.org,2002:int': '!!int',
  'tag:yaml.org,2002:float': '!!float',
  'tag:yaml.org,2002:null': '!!null',
  'tag:yaml.org,2002:timestamp': '!!timestamp',
};

/** A float64 of go-yaml, as opposed to an integer. */
export class Float {
  readonly value: number;

  constructor(value: number) {
    this.value = value;
  }
}

export function tagOf(value: unknown): string {
  if (value === null) return '!!null';
  if (value instanceof Float) return '!!float';
  switch (typeof value) {
    case 'boolean':
      return '!!bool';
    case 'bigint':
      return '!!int';
    default:
      return '!!str';
  }
}

const words = new Map<string, unknown>([
  ...['y', 'Y', 'yes', 'Yes', 'YES', 'true', 'True', 'TRUE', 'on', 'On', 'ON'].map((word): [string, unknown] => [word, true]),
  ...['n', 'N', 'no', 'No', 'NO', 'false', 'False', 'FALSE', 'off', 'Off', 'OFF'].map((word): [string, unknown] => [word, false]),
  ...['', '~', 'null', 'Null', 'NULL'].map((word): [string, unknown] => [word, null]),
  ...['.nan', '.NaN', '.NAN'].map((word): [string, unknown] => [word, new Float(Number.NaN)]),
  ...['.inf', '.Inf', '.INF', '+.inf', '+.Inf', '+.INF'].map((word): [string, unknown] => [word, new Float(Number.POSITIVE_INFINITY)]),
  ...['-.inf', '-.Inf', '-.INF'].map((word): [string, unknown] => [word, new Float(Number.NEGATIVE_INFINITY)]),
]);

const floatForm = /^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$/;

/** Resolves a plain scalar to a string, boolean, null, bigint (integer) or Float. */
export function resolveScalar(text: string): unknown {
  const word = words.get(text);
  if (word !== undefined) return word;
  const first = text.charCodeAt(0);
  const isSign = first === 0x2b || first === 0x2d;
  if (first === 0x2e) return floatOf(text) ?? text;
  if (!isSign && !(first >= 0x30 && first <= 0x39)) return text;
  const digits = text.replaceAll('_', '');
  const integer = parseInteger(digits);
  if (integer !== undefined) return integer;
  return floatOf(digits) ?? text;
}

function floatOf(text: string): Float | undefined {
  if (!floatForm.test(text)) return undefined;
  const value = Number(text);
  return Number.isFinite(value) ? new Float(value) : undefined;
}

/** Maximum number of digits of 64 bits, in any base. */
const maxDigits = 64;

/** strconv.ParseInt(text, 0, 64), or ParseUint. */
function parseInteger(text: string): bigint | undefined {
  const match = /^([-+]?)(?:(0[xX])([0-9a-fA-F]+)|(0[bB])([01]+)|(0[oO]?)([0-7]+)|(0|[1-9][0-9]*))$/.exec(text);
  if (!match) return undefined;
  const [, sign, hex, hexDigits, binary, binaryDigits, octal, octalDigits, decimal] = match;
  const digits = (hexDigits ?? binaryDigits ?? octalDigits ?? decimal)!.replace(/^0+(?=.)/, '');
  if (digits.length > maxDigits) return undefined;
  const value = BigInt(`${hex ?? binary ?? (octal === undefined ? '' : '0o')}${digits}`);
  const signed = sign === '-' ? -value : value;
  const fits = signed === BigInt.asIntN(64, signed) || (sign === '' && signed === BigInt.asUintN(64, signed));
  return fits ? signed : undefined;
}

/** Returns the number that a scalar becomes when it is converted to JSON: see numbers.ts. */
export function jsonNumber(value: unknown): unknown {
  if (value instanceof Float) {
    if (!Number.isFinite(value.value)) throw new YamlError(`json: unsupported value: ${formatFloat(value.value)}`);
    return rereadFloat(value.value);
  }
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  return value === BigInt.asIntN(64, value) ? value : numberOf(String(value));
}
