import type { AuthorizationAttributes } from 'kubenest/sdk';
import { expect, it } from 'vitest';
import { AlwaysAllowPaths, alwaysAllowPathProblem } from './always-allow-paths.ts';

it.each([
  { name: 'a path', paths: ['/healthz'], path: '/healthz', decision: 'Allow' },
  { name: 'a path without its leading slash', paths: ['healthz'], path: '/healthz', decision: 'Allow' },
  { name: 'a path below a prefix', paths: ['/healthz'], path: '/healthz/ping', decision: 'NoOpinion' },
  { name: 'a path with the prefix', paths: ['/pub/*'], path: '/pub/a/b', decision: 'Allow' },
  { name: 'the root', paths: ['/'], path: '/', decision: 'Allow' },
  { name: 'the root is not a prefix of all paths', paths: ['/'], path: '/metrics', decision: 'NoOpinion' },
  { name: 'a resource with the same name', paths: ['/*'], path: '/api/v1/pods', isResourceRequest: true, decision: 'NoOpinion' },
])('$name: $decision', ({ paths, path, isResourceRequest = false, decision }) => {
  const attributes = { path, isResourceRequest } as AuthorizationAttributes;
  expect(new AlwaysAllowPaths(paths).authorize(attributes)).toEqual({ decision, reason: '' });
});

it('rejects a star inside a path', () => {
  expect(alwaysAllowPathProblem('/a*b')).toBe('only trailing * allowed in "/a*b"');
  expect(alwaysAllowPathProblem('/ab*')).toBeUndefined();
});
