/** Semantic versions. Upstream: apiserver/pkg/cel/library/semverlib.go, github.com/blang/semver/v4. */
import { quote } from '#apimachinery/runtime/quote';
import { func, type FunctionDeclaration, global, member, type Overload } from '../check/declarations.ts';
import { boolType, intType, stringType, structType } from '../check/types.ts';
import type { Library } from '../environment.ts';
import { checkedInt } from '../runtime/arithmetic.ts';
import { CelError, type CelObject, noSuchOverload, type Value } from '../runtime/values.ts';

const semverType = structType('kubernetes.Semver');

/** A semantic version; comparisons ignore the build. */
export class Semver implements CelObject {
  readonly celType = semverType;

  constructor(
    readonly text: string,
    readonly major: bigint,
    readonly minor: bigint,
    readonly patch: bigint,
    readonly prerelease: readonly (string | bigint)[],
  ) {}

  equals(other: Value): Value {
    return other instanceof Semver ? compare(this, other) === 0 : noSuchOverload();
  }
}

function order(a: bigint | string | number, b: bigint | string | number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function compare(a: Semver, b: Semver): number {
  const core = order(a.major, b.major) || order(a.minor, b.minor) || order(a.patch, b.patch);
  return core || comparePrereleases(a.prerelease, b.prerelease);
}

function comparePrereleases(a: readonly (string | bigint)[], b: readonly (string | bigint)[]): number {
  if (a.length === 0 || b.length === 0) return order(b.length, a.length);
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x, y] = [a[i]!, b[i]!];
    const different = typeof x === typeof y ? order(x, y) : typeof x === 'bigint' ? -1 : 1;
    if (different !== 0) return different;
  }
  return order(a.length, b.length);
}

/** Parses a number of at most 64 bits without leading zeros, or returns the error. */
function parseNumber(text: string, part: string): bigint | CelError {
  const name = part.toLowerCase();
  if (/[^0-9]/.test(text)) return new CelError(`Invalid character(s) found in ${name} number ${quote(text)}`);
  if (text.length > 1 && text.startsWith('0')) return new CelError(`${part} number must not contain leading zeroes ${quote(text)}`);
  if (text === '') return new CelError('strconv.ParseUint: parsing "": invalid syntax');
  const value = text.length > 20 ? 2n ** 64n : BigInt(text);
  return value < 2n ** 64n ? value : new CelError(`strconv.ParseUint: parsing ${quote(text)}: value out of range`);
}

function parsePrerelease(text: string): string | bigint | CelError {
  if (text === '') return new CelError('Prerelease is empty');
  if (!/[^0-9]/.test(text)) {
    if (text.length > 1 && text.startsWith('0'))
      return new CelError(`Numeric PreRelease version must not contain leading zeroes ${quote(text)}`);
    return text.length > 20 ? new CelError(`strconv.ParseUint: parsing ${quote(text)}: value out of range`) : BigInt(text);
  }
  return /[^0-9A-Za-z-]/.test(text) ? new CelError(`Invalid character(s) found in prerelease ${quote(text)}`) : text;
}

/** Parses a version in the strict form of semver 2.0.0. */
export function parseSemver(text: string): Semver | CelError {
  if (text === '') return new CelError('Version string empty');
  const [majorText, minorText, ...rest] = text.split('.');
  if (minorText === undefined || rest.length === 0) return new CelError('No Major.Minor.Patch elements found');
  const tail = rest.join('.');
  const plus = tail.indexOf('+');
  const builds = plus < 0 ? [] : tail.slice(plus + 1).split('.');
  const version = plus < 0 ? tail : tail.slice(0, plus);
  const minus = version.indexOf('-');
  const prereleases =
    minus < 0
      ? []
      : version
          .slice(minus + 1)
          .split('.')
          .map(parsePrerelease);
  const numbers = [
    parseNumber(majorText!, 'Major'),
    parseNumber(minorText, 'Minor'),
    parseNumber(minus < 0 ? version : version.slice(0, minus), 'Patch'),
  ] as const;
  const wrong = [...numbers, ...prereleases, ...builds.map(checkBuild)].find((part) => part instanceof CelError);
  if (wrong) return wrong;
  const [major, minor, patch] = numbers as readonly [bigint, bigint, bigint];
  return new Semver(text, major, minor, patch, prereleases as (string | bigint)[]);
}

function checkBuild(text: string): CelError | undefined {
  if (text === '') return new CelError('Build meta data is empty');
  return /[^0-9A-Za-z-]/.test(text) ? new CelError(`Invalid character(s) found in build meta data ${quote(text)}`) : undefined;
}

/** Parses lenient forms: a leading v, missing parts, leading zeros. */
function parseNormalized(text: string): Semver | CelError {
  const [first, second, ...rest] = text.replace(/^v/, '').split('.');
  const written = [first!, second, rest.length > 0 ? rest.join('.') : undefined].filter((part) => part !== undefined);
  const parts = written.map((part) => part.replace(/^0+(?=[0-9])/, ''));
  if (parts.length < 3 && /[+-]/.test(parts.at(-1)!)) return new CelError('short version cannot contain PreRelease/Build meta data');
  while (parts.length < 3) parts.push('0');
  return parseSemver(parts.join('.'));
}

function parseAs(text: string, normalize: boolean): Semver | CelError {
  return normalize ? parseNormalized(text) : parseSemver(text);
}

const two = [semverType, semverType];

function part(name: 'major' | 'minor' | 'patch'): Overload {
  return member(`semver_${name}`, [semverType], intType, (version: Semver) => checkedInt(BigInt.asIntN(64, version[name])));
}

const functions: readonly FunctionDeclaration[] = [
  func(
    'semver',
    global('string_to_semver', [stringType], semverType, parseSemver),
    global('string_bool_to_semver', [stringType, boolType], semverType, parseAs),
  ),
  func(
    'isSemver',
    global('is_semver_string', [stringType], boolType, (text: string) => parseSemver(text) instanceof Semver),
    global(
      'is_semver_string_bool',
      [stringType, boolType],
      boolType,
      (text: string, normalize: boolean) => parseAs(text, normalize) instanceof Semver,
    ),
  ),
  func(
    'isGreaterThan',
    member('semver_is_greater_than', two, boolType, (a: Semver, b: Semver) => compare(a, b) > 0),
  ),
  func(
    'isLessThan',
    member('semver_is_less_than', two, boolType, (a: Semver, b: Semver) => compare(a, b) < 0),
  ),
  func('compareTo', member('semver_compare_to', two, intType, compare)),
  func('major', part('major')),
  func('minor', part('minor')),
  func('patch', part('patch')),
];

export const semverLibrary: Library = { functions, types: [semverType] };
