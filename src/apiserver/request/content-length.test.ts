import { expect, it } from 'vitest';
import { parseContentLength } from './content-length.ts';

it.each([
  { value: '0', length: 0 },
  { value: '132', length: 132 },
  { value: '0132', length: 132 },
  { value: '9007199254740991', length: 2 ** 53 - 1 },
  { value: '9007199254740992', length: undefined },
  { value: '99999999999999999999999', length: undefined },
  { value: '', length: undefined },
  { value: '-5', length: undefined },
  { value: '-0', length: undefined },
  { value: '+132', length: undefined },
  { value: '0x10', length: undefined },
  { value: '1e2', length: undefined },
  { value: '1.0', length: undefined },
  { value: '1_000', length: undefined },
  { value: ' 132', length: undefined },
  { value: '132 ', length: undefined },
  { value: '132\n', length: undefined },
  { value: '132, 132', length: undefined },
  { value: '132,132', length: undefined },
  { value: '١٣٢', length: undefined },
  { value: 'Infinity', length: undefined },
])('"$value" is $length', ({ value, length }) => {
  expect(parseContentLength(value)).toBe(length);
});
