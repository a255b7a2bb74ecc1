/** The conformance tests of the CEL specification for the features that Kubernetes supports. */
import { tests as suites } from '@bufbuild/cel-spec/testdata/conformance.js';
import { expect, test } from 'vitest';
import { newExpressionsEnvironment } from './base-environment.ts';
import { dynType } from './check/types.ts';
import { activationOf, PlanError } from './environment.ts';
import { equal } from './runtime/equality.ts';
import { display } from './runtime/format.ts';
import { CelError, Double, intValue, typeOf, Uint, type Value, ValueList, ValueMap } from './runtime/values.ts';
import { bindingsLibrary } from './library/bindings.ts';
import { Issues } from './syntax/source.ts';

/** A cel.expr.Value in its JSON form. */
interface SpecValue {
  readonly nullValue?: unknown;
  readonly boolValue?: boolean;
  readonly int64Value?: string;
  readonly uint64Value?: string;
  readonly doubleValue?: number | 'NaN' | 'Infinity' | '-Infinity';
  readonly stringValue?: string;
  readonly bytesValue?: string;
  readonly listValue?: { readonly values?: readonly SpecValue[] };
  readonly mapValue?: { readonly entries?: readonly { readonly key: SpecValue; readonly value: SpecValue }[] };
}

/** A cel.expr.conformance.test.SimpleTest in its JSON form. */
interface SpecTest {
  readonly name: string;
  readonly expr: string;
  readonly value?: SpecValue;
  readonly evalError?: object;
  readonly container?: string;
  readonly disableCheck?: boolean;
  readonly checkOnly?: boolean;
  readonly typedResult?: object;
  readonly bindings?: Readonly<Record<string, { readonly value?: SpecValue }>>;
}

interface Suite {
  readonly name: string;
  readonly suites?: readonly Suite[];
  readonly tests?: readonly { readonly original: SpecTest }[];
}

/** Suites for features that Kubernetes lacks: protocol buffers and some extensions. */
const foreignSuites = new Set([
  'block_ext',
  'encoders_ext',
  'enums',
  'math_ext',
  'proto2',
  'proto2_ext',
  'proto3',
  'wrappers',
  'network_ext',
]);
const foreignTypes = /google\.protobuf|TestAllTypes|proto[23]|GlobalEnum/;

function* testsIn(suite: Suite, path: string): Generator<readonly [name: string, SpecTest]> {
  for (const { original } of suite.tests ?? []) yield [`${path}/${original.name}`, original];
  for (const inner of suite.suites ?? []) if (!foreignSuites.has(inner.name)) yield* testsIn(inner, `${path}/${inner.name}`);
}

/** Converts a value; undefined if Kubernetes does not support its type. */
function valueOf(value: SpecValue): Value | undefined {
  if ('nullValue' in value) return null;
  if (value.boolValue !== undefined) return value.boolValue;
  if (value.stringValue !== undefined) return value.stringValue;
  if (value.int64Value !== undefined) return intValue(BigInt(value.int64Value));
  if (value.uint64Value !== undefined) return new Uint(BigInt(value.uint64Value));
  if (value.doubleValue !== undefined) return new Double(Number(value.doubleValue));
  if (value.bytesValue !== undefined) return new Uint8Array(Buffer.from(value.bytesValue, 'base64'));
  if (value.listValue) {
    const items = (value.listValue.values ?? []).map(valueOf);
    return items.includes(undefined) ? undefined : new ValueList(items as Value[]);
  }
  if (!value.mapValue) return undefined;
  const entries = (value.mapValue.entries ?? []).map(({ key, value: of }) => [valueOf(key), valueOf(of)] as const);
  return entries.flat().includes(undefined) ? undefined : ValueMap.of(entries as (readonly [Value, Value])[]);
}

function isOurs([, { expr, container = '', disableCheck, checkOnly, typedResult, value, bindings = {} }]: readonly [
  string,
  SpecTest,
]): boolean {
  if (container !== '' || disableCheck || checkOnly || typedResult || foreignTypes.test(`${expr} ${JSON.stringify(value)}`)) return false;
  if (value && valueOf(value) === undefined) return false;
  return Object.values(bindings).every((binding) => binding.value && valueOf(binding.value) !== undefined);
}

function outcome({ expr, bindings = {} }: SpecTest): Value {
  const variables = Object.fromEntries(Object.keys(bindings).map((name) => [name, dynType]));
  const values = Object.fromEntries(Object.entries(bindings).map(([name, { value }]) => [name, valueOf(value ?? {}) as Value]));
  const compiled = newExpressionsEnvironment.extend({ variables }, bindingsLibrary).compile(expr);
  if (compiled instanceof Issues) return new CelError(String(compiled));
  try {
    return compiled.program().evaluate(activationOf(values)).value;
  } catch (error) {
    if (error instanceof PlanError) return new CelError(error.message);
    throw error;
  }
}

/** Intentional differences of Kubernetes' dialect. */
const dialect: readonly (readonly [why: string, RegExp])[] = [
  [
    'elements of a literal have one type',
    /mixed|list_elem_type|map_key_type|map_key_u?int64|value_mix_type|vs_types|(list|map|elem|value)_null$|optional_chaining_13$/,
  ],
  ['backquoted names are not supported', /quoted_map_fields/],
  ['a literal may repeat a key', /map_value_repeat_key$/],
  ['optional selection of a missing field is none', /map_null_entry_no_such_key$|map_present_key_invalid_field$/],
  ['the string extension has version 2', /\/format\/.*(scientific|infinity|NaN|(list|map|lists|maps)\b)|indexof_out_of_range/],
];

const ours = [...testsIn(suites as Suite, '')].filter(isOurs);

/** Returns 'as specified' if the result of an expression matches the specification, or else the difference. */
function conforms(spec: SpecTest): string {
  const value = outcome(spec);
  if (spec.evalError) return value instanceof CelError ? 'as specified' : `${display(value)}, not an error`;
  if (value instanceof CelError) return value.message;
  const expected = spec.value ? (valueOf(spec.value) as Value) : true;
  const isSame =
    expected instanceof Double && Number.isNaN(expected.value)
      ? value instanceof Double && Number.isNaN(value.value)
      : equal(value, expected) === true;
  return isSame && typeOf(value).name === typeOf(expected).name ? 'as specified' : `${display(value)}, not ${display(expected)}`;
}

test('runs most tests of the specification', () => {
  expect(ours.length).toBeGreaterThan(1_200);
});

test.each(ours)('%s', (name, spec) => {
  const result = conforms(spec);
  const isDialect = dialect.some(([, names]) => names.test(name));
  if (!isDialect) expect(result).toBe('as specified');
});

test.each(dialect)('the dialect differs: %s', (_why, names) => {
  expect(ours.some(([name, spec]) => names.test(name) && conforms(spec) !== 'as specified')).toBe(true);
});
