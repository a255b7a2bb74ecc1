import { expect, it } from 'vitest';
import { headless } from '#apiserver/authentication/strategy';
import { Anonymous } from './anonymous.ts';
import { credentialsOf } from './test-credentials.ts';

const anonymous = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

it.each<{ name: string; paths?: string[]; path: string; want: object | undefined }>([
  { name: 'all paths without a list', path: '/api', want: anonymous },
  { name: 'a listed path', paths: ['/livez'], path: '/livez', want: anonymous },
  { name: 'a path below a listed one', paths: ['/livez'], path: '/livez/ping', want: undefined },
  { name: 'no path of an empty list', paths: [], path: '/livez', want: undefined },
])('authenticates $name', ({ paths, path, want }) => {
  const authenticator = headless(new Anonymous(paths && new Set(paths)));
  expect(authenticator.authenticate(credentialsOf({}, { path }))).toEqual(want);
});
