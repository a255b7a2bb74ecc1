import { expect, test } from 'vitest';
import { formatTraceParent, parseTraceParent } from './trace-context.ts';

const trace = '0af7651916cd43dd8448eb211c80319c';
const span = 'b7ad6b7169203331';

test.each([
  { header: `00-${trace}-${span}-01`, want: `00-${trace}-${span}-01` },
  { header: `00-${trace}-${span}-00`, want: `00-${trace}-${span}-00` },
  { header: `01-${trace}-${span}-03-more`, want: `00-${trace}-${span}-01` },
  { header: `00-${trace}-${span}-01-more`, want: undefined },
  { header: `ff-${trace}-${span}-01`, want: undefined },
  { header: `00-${trace.toUpperCase()}-${span}-01`, want: undefined },
  { header: `00-${'0'.repeat(32)}-${span}-01`, want: undefined },
  { header: `00-${trace}-${'0'.repeat(16)}-01`, want: undefined },
  { header: undefined, want: undefined },
])('$header', ({ header, want }) => {
  const context = parseTraceParent(header);
  expect(context && formatTraceParent(context)).toBe(want);
});

test('drops a tracestate that is too long', () => {
  expect(parseTraceParent(`00-${trace}-${span}-01`, 'a=b')?.traceState).toBe('a=b');
  expect(parseTraceParent(`00-${trace}-${span}-01`, 'a'.repeat(513))?.traceState).toBe('');
});
