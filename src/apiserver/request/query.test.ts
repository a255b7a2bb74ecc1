import { describe, expect, it } from 'vitest';
import { parseQuery } from './query.ts';

describe('parseQuery', () => {
  it.each([
    ['a=1&b=2', 'a=1&b=2'],
    ['a=%zz&b=2', 'b=2'],
    ['a=1;c=3&b=%20', 'b=+'],
    ['a=%', ''],
  ])('%j is %j', (query, want) => expect(parseQuery(query).toString()).toBe(want));
});
