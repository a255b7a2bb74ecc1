import { fnv64a } from '#apimachinery/runtime/fnv';
import { quote } from '#apimachinery/runtime/quote';
import { type Call, type Expr, type Node, operators } from '#apiserver/cel/syntax/ast';
import { parse } from '#apiserver/cel/syntax/parser';
import { Source } from '#apiserver/cel/syntax/source';
import { Double, Uint } from '#apiserver/cel/runtime/values';
import type { CachedObject } from '#apiserver/storage/cacher/cached-object';
import type { ShardSelector } from '#apiserver/storage/cacher/predicate';

/** Hashes from `start` to below `end`, both with `0x` and 16 digits, except for the end of all, 2^64. */
interface ShardRange {
  readonly field: string;
  readonly start: string;
  readonly end: string;
}

const valueOf: Readonly<Record<string, (object: CachedObject) => string>> = {
  'object.metadata.uid': ({ uid }) => uid,
  'object.metadata.namespace': ({ fields }) => fields['metadata.namespace'] ?? '',
};

/**
 * Parses the query parameter `shardSelector`: calls of `shardRange(FIELD, START, END)`, joined by `||`. The expression is CEL, which is
 * parsed but not evaluated. Throws an Error with upstream's message, which clients receive as a 500. Upstream:
 * apiserver/pkg/sharding/parser.go.
 */
export function parseShardSelector(text: string): ShardSelector {
  try {
    return selectorOf(parseRanges(text.trim()));
  } catch (error) {
    throw new Error(`invalid shard selector: ${(error as Error).message}`, { cause: error });
  }
}

function parseRanges(text: string): readonly ShardRange[] {
  if (text === '') throw new Error('empty shard selector is not allowed; omit the parameter for unfiltered lists');
  const { ast, issues } = parse(new Source(text), { macros: [], optionalSyntax: false });
  if (!ast) throw new Error(`CEL parse error: ${issues.list()[0]!.message}`);
  const ranges = rangesOf(ast.expr);
  const [{ field }] = ranges as [ShardRange];
  const other = ranges.find((range) => range.field !== field);
  if (other) throw new Error(`all shard ranges must use the same field, got ${quote(other.field)} and ${quote(field)}`);
  return ranges;
}

function selectorOf(ranges: readonly ShardRange[]): ShardSelector {
  const valueOfField = valueOf[ranges[0]!.field]!;
  const bounds = disjointBounds(ranges);
  return {
    text: ranges.map(({ field, start, end }) => `shardRange(${field}, '${start}', '${end}')`).join(' || '),
    matches(object) {
      const hash = fnv64a(valueOfField(object));
      return isWithin(bounds, hash);
    },
  };
}

interface Bounds {
  readonly start: bigint;
  end: bigint;
}

/** Returns the union of the ranges in ascending order: a selector may have a thousand, which would be compared with each object. */
function disjointBounds(ranges: readonly ShardRange[]): readonly Bounds[] {
  // All have the same number of digits, except the end of all.
  const ascending = ranges.toSorted((a, b) => (a.start < b.start ? -1 : Number(a.start > b.start)));
  const bounds: Bounds[] = [];
  for (const range of ascending) {
    const [start, end] = [BigInt(range.start), BigInt(range.end)];
    const last = bounds.at(-1);
    if (!last || start > last.end) bounds.push({ start, end });
    else if (end > last.end) last.end = end;
  }
  return bounds;
}

/** True if one of the bounds, which are disjoint and ascending, has the number. */
function isWithin(bounds: readonly Bounds[], number: bigint): boolean {
  let [from, to] = [0, bounds.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (bounds[middle]!.end <= number) from = middle + 1;
    else to = middle;
  }
  return from < bounds.length && bounds[from]!.start <= number;
}

/** Numbers of cel-go's kinds of expressions, which its messages contain. Upstream: cel-go common/ast (ExprKind). */
const kindNumbers: Readonly<Record<Node['kind'], number>> = {
  unspecified: 0,
  call: 1,
  comprehension: 2,
  ident: 3,
  list: 4,
  literal: 5,
  map: 6,
  select: 7,
  struct: 8,
};

function rangesOf({ node }: Expr): readonly ShardRange[] {
  if (node.kind !== 'call')
    throw new Error(`unexpected expression kind ${kindNumbers[node.kind]}; expected shardRange() call or || operator`);
  if (node.function === operators.logicalOr) return node.args.flatMap(rangesOf);
  if (node.function === 'shardRange') return [rangeOf(node)];
  throw new Error(`unsupported function ${quote(node.function)}; only shardRange() and || are allowed`);
}

function rangeOf({ args }: Call): ShardRange {
  if (args.length !== 3) throw new Error(`shardRange() requires exactly 3 arguments, got ${args.length}`);
  const [path, from, to] = args as [Expr, Expr, Expr];
  const field = fieldPathOf(path);
  const fields = Object.keys(valueOf);
  if (!fields.includes(field)) throw new Error(`unsupported field path ${quote(field)}; supported: ${fields.join(', ')}`);
  const start = hexOf(from, 'hexStart');
  const end = hexOf(to, 'hexEnd');
  if (BigInt(start) >= BigInt(end)) throw new Error(`shard range start ${start} must be less than end ${end}`);
  return { field, start, end };
}

function fieldPathOf({ node }: Expr): string {
  if (node.kind === 'ident') return node.name;
  if (node.kind === 'select') return `${fieldPathOf(node.operand)}.${node.field}`;
  throw new Error(
    `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind ${kindNumbers[node.kind]}`,
  );
}

const endOfAll = '0x10000000000000000';
const digits = 16;

function hexOf({ node }: Expr, name: string): string {
  if (node.kind !== 'literal')
    throw new Error(`${name} must be a string literal (e.g. '0xff'), got expression kind ${kindNumbers[node.kind]}`);
  const { value } = node;
  if (typeof value !== 'string') throw new Error(`${name} must be a string literal, got ${goTypeOf(value)}`);
  if (!value.startsWith('0x')) throw new Error(`${name} must have '0x' prefix, got ${quote(value)}`);
  const hex = value.slice(2);
  const { length } = Buffer.from(hex);
  if (length === 0) throw new Error(`${name}: hex value is required after '0x'`);
  if (length > digits + 1) throw new Error(`${name}: hex value too long (${length} chars, max ${digits + 1}): ${quote(hex)}`);
  const odd = /[^0-9a-f]/u.exec(hex)?.[0];
  if (odd !== undefined) throw new Error(`${name}: invalid hex character ${quote(odd)} in ${quote(value)}`);
  if (length > digits && value !== endOfAll)
    throw new Error(`${name}: ${length}-digit hex value must be '${endOfAll}' (2^64), got ${quote(value)}`);
  if (length < digits) {
    const padded = quote(`0x${hex.padStart(digits, '0')}`);
    throw new Error(`${name} must be a 0x-prefixed ${digits}-digit hex value, got ${quote(value)} (did you mean ${padded}?)`);
  }
  return value;
}

/** Go type of the value of a literal other than a string. */
function goTypeOf(value: unknown): string {
  if (value === null) return 'structpb.NullValue';
  if (typeof value === 'boolean') return 'bool';
  if (value instanceof Double) return 'float64';
  if (value instanceof Uint) return 'uint64';
  return value instanceof Uint8Array ? '[]uint8' : 'int64';
}
