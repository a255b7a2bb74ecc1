import type { AuthorizationAttributes } from 'kubenest/sdk';
import { expect, it } from 'vitest';
import { AlwaysAllowPaths, alwaysAllowPathProblem } from './always-allow-paths.ts';

it.each([
  { name: 'a path', paths: ['/healthz'], path: '/healthz', decision: 'Allow' },
  { name: 'one without its slash', paths: ['healthz'], path: '/healthz', decision: 'Allow' },
  { name: 'what is below a path', paths: ['/healthz'], path: '/healthz/ping', decision: 'NoOpinion' },
  { name: 'what begins so', paths: ['/pub/*'], path: '/pub/a/b', decision: 'Allow' },
  { name: 'the root', paths: ['/'], path: '/', decision: 'Allow' },
  { name: 'not everything for the root', paths: ['/'], path: '/metrics', decision: 'NoOpinion' },
  { name: 'a resource of that name', paths: ['/*'], path: '/api/v1/pods', isResourceRequest: true, decision: 'NoOpinion' },
])('$name: $decision', ({ paths, path, isResourceRequest = false, decision }) => {
  const attributes = { path, isResourceRequest } as AuthorizationAttributes;
  expect(new AlwaysAllowPaths(paths).authorize(attributes)).toEqual({ decision, reason: '' });
});

it('a star within a path is refused', () => {
  expect(alwaysAllowPathProblem('/a*b')).toBe('only trailing * allowed in "/a*b"');
  expect(alwaysAllowPathProblem('/ab*')).toBeUndefined();
});
