import { expect, it } from 'vitest';
import { lineDiff } from './line-diff.ts';

it.each([
  { name: 'equal texts', before: 'a\nb', after: 'a\nb', lines: [] },
  { name: 'an added line', before: 'a\nc', after: 'a\nb\nc', lines: ['  a', '+ b', '  c'] },
  { name: 'a removed line', before: 'a\nb\nc', after: 'a\nc', lines: ['  a', '- b', '  c'] },
  { name: 'a changed line', before: 'a\nb\nc', after: 'a\nx\nc', lines: ['  a', '- b', '+ x', '  c'] },
  { name: 'lines in between that stay', before: 'a\nb\nc\nd', after: 'x\nb\nc\ny', lines: ['- a', '+ x', '  b', '  c', '- d', '+ y'] },
  { name: 'repeated lines', before: 'a\na', after: 'a\na\na', lines: ['  a', '  a', '+ a'] },
])('finds $name', ({ before, after, lines }) => {
  expect(lineDiff(before, after)).toEqual(lines);
});

it('replaces texts that are too large to compare', () => {
  const numbered = (letter: string): string[] => Array.from({ length: 2_100 }, (_, i) => `${letter}${i}`);
  const lines = lineDiff(['start', ...numbered('a'), 'end'].join('\n'), ['start', ...numbered('b'), 'end'].join('\n'));
  expect(lines).toHaveLength(4_202);
  expect([lines[0], lines[1], lines[2_101], lines.at(-1)]).toEqual(['  start', '- a0', '+ b0', '  end']);
});
