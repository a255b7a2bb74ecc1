import { describe, expect, it } from 'vitest';
import { isPretty, negotiate, plainRestrictions } from './negotiation.ts';
import { resourceRestrictions } from './resource-endpoint.ts';

const table = { group: 'meta.k8s.io', version: 'v1', kind: 'Table' };
const rows: readonly { readonly accept: string | undefined; readonly want: object | RegExp }[] = [
  { accept: undefined, want: { mediaType: 'application/json' } },
  { accept: '*/*', want: { mediaType: 'application/json' } },
  { accept: 'application/yaml', want: { mediaType: 'application/yaml' } },
  { accept: 'application/vnd.kubernetes.protobuf, */*', want: { mediaType: 'application/vnd.kubernetes.protobuf' } },
  { accept: 'application/json;q=0.5, application/yaml', want: { mediaType: 'application/yaml' } },
  { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json', want: { mediaType: 'application/json', convert: table } },
  {
    accept: 'application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io, application/json',
    want: { mediaType: 'application/json', convert: undefined },
  },
  { accept: 'application/json;as=Table;v=v9;g=meta.k8s.io', want: /none of the requested|only the following media types are accepted/ },
  { accept: 'text/html', want: /only the following media types are accepted/ },
];

describe('negotiate', () => {
  it.each(rows)('answers $accept', ({ accept, want }) => {
    if (want instanceof RegExp) expect(() => negotiate(accept, resourceRestrictions)).toThrow(want);
    else expect(negotiate(accept, resourceRestrictions)).toMatchObject(want);
  });

  it('converts nothing where the endpoint does not', () => {
    expect(() => negotiate('application/json;as=Table;v=v1;g=meta.k8s.io', plainRestrictions)).toThrow(/media types/);
  });
});

describe('isPretty', () => {
  it.each([
    ['', 'curl/8.0', true],
    ['', 'kubectl/v1.36', false],
    ['pretty=true', undefined, true],
    ['pretty=false', 'curl/8.0', false],
    ['pretty', undefined, true],
  ] as const)('of query %j by %j is %j', (query, userAgent, want) => {
    expect(isPretty(query, userAgent)).toBe(want);
  });
});
