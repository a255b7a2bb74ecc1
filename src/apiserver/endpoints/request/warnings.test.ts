import { expect, it } from 'vitest';
import { warningHeaders } from './warnings.ts';

it('quotes texts and keeps control characters out of headers', () => {
  expect(warningHeaders(['say "hi" \\ \r\nX-Evil: 1'])).toEqual(['299 - "say \\"hi\\" \\\\  X-Evil: 1"']);
});

it('sends long texts whole as long as all of them fit', () => {
  expect(warningHeaders(['x'.repeat(4000)])).toEqual([`299 - "${'x'.repeat(4000)}"`]);
});

it('cuts each text when all together are too long, and stops at the limit', () => {
  const headers = warningHeaders(Array.from({ length: 20 }, () => 'y'.repeat(300)));
  expect(headers).toHaveLength(16);
  expect(new Set(headers)).toEqual(new Set([`299 - "${'y'.repeat(256)}"`]));
});
