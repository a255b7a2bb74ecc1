import { expect, it } from 'vitest';
import { quote, quoteSteps } from './quote.ts';
import { atOnce } from './steps.ts';

/** Length of a part that is quoted between two yields. */
const partLength = 16 * 1024;

it.each([
  ['JSON', '{"a":"\\\\"}'.repeat(10_000)],
  ['control characters', 'a\n\u0001'.repeat(10_000)],
  ['a pair of surrogates across two parts', `${'x'.repeat(partLength - 1)}😀${'"'.repeat(partLength)}`],
  ['lone surrogates', '\ud83d'.repeat(3 * partLength)],
  ['no text', ''],
])('quotes equally when it yields: %s', (_, text) => {
  expect(atOnce(quoteSteps(text))).toBe(quote(text));
  let steps = 0;
  for (const work = quoteSteps(text); !work.next().done; ) steps += 1;
  expect(steps).toBeGreaterThanOrEqual(Math.floor(text.length / (partLength + 1)));
});

it('escapes only quotes and backslashes of printable ASCII', () => {
  expect(quote('{"a":"\\\\"} $& $1')).toBe(String.raw`"{\"a\":\"\\\\\"} $& $1"`);
});
