import { expect, it } from 'vitest';
import { warningHeaders } from './warnings.ts';

it('quotes texts', () => {
  expect(warningHeaders(['say "hi" \\'])).toEqual(['299 - "say \\"hi\\" \\\\"']);
});

it.each(['\r\nX-Evil: 1', 'a\tb', 'a\u007f', 'a\u0085'])('does not send %j, which contains a control character', (text) => {
  expect(warningHeaders([text, 'one line'])).toEqual(['299 - "one line"']);
});

it('sends a prefix of a text with a late control character only if texts are truncated', () => {
  const late = `${'x'.repeat(300)}\n`;
  expect(warningHeaders([late])).toEqual([]);
  expect(warningHeaders([late, 'y'.repeat(5000)])).toEqual([`299 - "${'x'.repeat(256)}"`, `299 - "${'y'.repeat(256)}"`]);
});

it('sends all texts up to the one that crosses the limit', () => {
  expect(warningHeaders(Array.from({ length: 100 }, (_, i) => `${100 + i}${'x'.repeat(102)}`))).toHaveLength(40);
});

it('sends long texts whole if all of them fit', () => {
  expect(warningHeaders(['x'.repeat(4000)])).toEqual([`299 - "${'x'.repeat(4000)}"`]);
});

it('truncates each text if all together are too long, and stops at the limit', () => {
  const headers = warningHeaders(Array.from({ length: 20 }, () => 'y'.repeat(300)));
  expect(headers).toHaveLength(16);
  expect(new Set(headers)).toEqual(new Set([`299 - "${'y'.repeat(256)}"`]));
});
