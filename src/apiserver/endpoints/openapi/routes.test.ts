import { expect, it } from 'vitest';
import { acceptedType } from './routes.ts';

const protobuf = 'application/com.github.proto-openapi.spec.v2.v1.0+protobuf';

it.each([
  { accept: undefined, want: 'application/json' },
  { accept: '*/*', want: 'application/json' },
  { accept: 'application/*', want: 'application/json' },
  { accept: 'application/com.github.proto-openapi.spec.v2@v1.0+protobuf', want: protobuf },
  { accept: 'application/json;q=0.5, application/com.github.proto-openapi.spec.v2.v1.0+protobuf', want: protobuf },
  { accept: 'text/plain, application/json', want: 'application/json' },
  { accept: 'text/plain', want: undefined },
])('acceptedType($accept) is $want', ({ accept, want }) => {
  expect(acceptedType(accept, ['application/json', protobuf])).toBe(want);
});
