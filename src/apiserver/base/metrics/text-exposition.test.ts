import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { protobufOf } from './protobuf-exposition.ts';
import { goNumber, textOf } from './text-exposition.ts';

test.each([
  { value: 0, want: '0' },
  { value: 1, want: '1' },
  { value: 0.005, want: '0.005' },
  { value: 5e-7, want: '5e-07' },
  { value: 0.0001, want: '0.0001' },
  { value: 0.00001, want: '1e-05' },
  { value: 604_800, want: '604800' },
  { value: 999_999.5, want: '999999.5' },
  { value: 1_000_000, want: '1e+06' },
  { value: 2_592_000, want: '2.592e+06' },
  { value: 1_795_327_366, want: '1.795327366e+09' },
  { value: -12.5, want: '-12.5' },
  { value: 1e100, want: '1e+100' },
  { value: Number.POSITIVE_INFINITY, want: '+Inf' },
  { value: Number.NaN, want: 'NaN' },
])('$value is formatted like Go', ({ value, want }) => {
  expect(goNumber(value)).toBe(want);
});

const histogram = {
  name: 'h',
  help: 'of \\ two\nlines',
  type: 'histogram',
  series: [{ labels: [['a', 'b"\\\n']], value: 2.5, count: 300, parts: [[1, 2]] }],
} as const;

test('labels are escaped, and a histogram has a +Inf bucket', () => {
  expect(textOf([histogram])).toBe(
    [
      '# HELP h of \\\\ two\\nlines',
      '# TYPE h histogram',
      'h_bucket{a="b\\"\\\\\\n",le="1"} 2',
      'h_bucket{a="b\\"\\\\\\n",le="+Inf"} 300',
      'h_sum{a="b\\"\\\\\\n"} 2.5',
      'h_count{a="b\\"\\\\\\n"} 300',
      '',
    ].join('\n'),
  );
});

test('messages have a length prefix', () => {
  const double = (value: number): string => {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(value);
    return bytes.toString('hex');
  };
  const counter = { name: 'c', help: '', type: 'counter', series: [{ labels: [], value: 3, count: 0, parts: [] }] } as const;
  expect(protobufOf([counter]).toString('hex')).toBe(`140a016312001800220b1a0909${double(3)}`);
  const summed = { ...histogram, name: 'h', help: '', series: [{ labels: [], value: 2.5, count: 300, parts: [[1, 2]] }] } as const;
  const bucket = `1a0b080211${double(1)}`;
  expect(protobufOf([summed]).toString('hex')).toBe(`240a016812001804` + `221b3a19` + `08ac02` + `11${double(2.5)}` + bucket);
});
