import { expect, it } from 'vitest';
import { textTable } from './text-table.ts';

it('aligns the cells of a column', () => {
  expect(textTable(['A', 'LONG'], [['aaa', 'b']])).toBe('A    LONG\naaa  b');
});

it('escapes characters that a terminal obeys, so that each row is one line', () => {
  expect(textTable(['A'], [['\u001b[2J'], ['a\r\nb'], ['\u202ec']])).toBe('A\n\\u001b[2J\na\\u000d\\u000ab\n\\u202ec');
});
