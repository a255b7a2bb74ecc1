import { describe, expect, it } from 'vitest';
import { isPretty, negotiate, plainRestrictions, withCbor } from './negotiation.ts';
import { customResourceRestrictions, resourceRestrictions } from './resource-endpoint.ts';

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
  { accept: 'application/cbor', want: /406: Not Acceptable/ },
  {
    accept: 'text/html',
    want: /^406: Not Acceptable\n\nAvailable representations: application\/json, application\/yaml, [a-z./]*protobuf$/,
  },
  // The router supports no ranges of subtypes.
  { accept: 'application/*', want: /406: Not Acceptable/ },
  { accept: 'application/*, application/yaml;q=0.5', want: { mediaType: 'application/json' } },
];

const cborRows: typeof rows = [
  { accept: 'application/cbor', want: { mediaType: 'application/cbor' } },
  { accept: 'application/cbor;q=0.5, application/yaml', want: { mediaType: 'application/yaml' } },
  { accept: 'application/cbor;as=Table;v=v1;g=meta.k8s.io', want: /only the following media types are accepted: .*, application\/cbor$/ },
  { accept: 'application/cbor;as=Table;v=v1;g=meta.k8s.io, application/cbor', want: { mediaType: 'application/cbor', convert: undefined } },
  {
    accept: 'application/cbor;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
    want: { mediaType: 'application/cbor', convert: { ...table, kind: 'PartialObjectMetadata' } },
  },
  { accept: 'application/cbor-seq', want: /only the following media types are accepted/ },
  { accept: 'application/cbor-seq, application/json', want: { mediaType: 'application/json' } },
  {
    accept: 'text/html',
    want: /protobuf, application\/cbor, application\/json;stream=watch, .*protobuf;stream=watch, application\/cbor-seq$/,
  },
];

describe('negotiate', () => {
  it.each(rows)('negotiates $accept', ({ accept, want }) => {
    if (want instanceof RegExp) expect(() => negotiate(accept, resourceRestrictions)).toThrow(want);
    else expect(negotiate(accept, resourceRestrictions)).toMatchObject(want);
  });

  it.each(cborRows)('negotiates $accept with streams and CBOR', ({ accept, want }) => {
    const restrictions = withCbor(resourceRestrictions);
    if (want instanceof RegExp) expect(() => negotiate(accept, restrictions, true)).toThrow(want);
    else expect(negotiate(accept, restrictions, true)).toMatchObject(want);
  });

  it("does not apply the router's check to custom resources", () => {
    expect(() => negotiate('text/html', customResourceRestrictions)).toThrow(/only the following media types are accepted/);
    expect(negotiate('application/*', customResourceRestrictions)).toMatchObject({ mediaType: 'application/json' });
  });

  it('rejects conversions that the endpoint does not support', () => {
    expect(() => negotiate('application/json;as=Table;v=v1;g=meta.k8s.io', plainRestrictions)).toThrow(/media types/);
  });
});

describe('isPretty', () => {
  it.each([
    ['', 'curl/8.0', true],
    ['', 'kubectl/v1.36', false],
    ['pretty=true', undefined, true],
    ['pretty=false', 'curl/8.0', false],
    ['pretty', undefined, false],
    ['pretty=', 'curl/8.0', true],
    ['pretty=x', 'curl/8.0', false],
    ['pretty=1', undefined, true],
  ] as const)('for query %j and user agent %j is %j', (query, userAgent, want) => {
    expect(isPretty(query, userAgent)).toBe(want);
  });
});
