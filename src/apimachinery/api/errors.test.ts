import { expect, test } from 'vitest';
import { fieldPath, invalid, required } from '../validation/field.ts';
import * as errors from './errors.ts';

const pods = { group: '', resource: 'pods' };
const deployments = { group: 'apps', resource: 'deployments' };

test.each<[error: errors.StatusError, code: number, reason: string | undefined, message: string]>([
  [errors.newNotFound(deployments, 'a"b'), 404, 'NotFound', 'deployments.apps "a\\"b" not found'],
  [errors.newAlreadyExists(pods, 'a'), 409, 'AlreadyExists', 'pods "a" already exists'],
  [errors.newUnauthorized(''), 401, 'Unauthorized', 'not authorized'],
  [errors.newForbidden(pods, '', 'no'), 403, 'Forbidden', 'pods is forbidden: no'],
  [errors.newForbidden({ group: '', resource: '' }, 'x', 'no'), 403, 'Forbidden', 'forbidden: no'],
  [errors.newConflict(pods, 'a', 'old'), 409, 'Conflict', 'Operation cannot be fulfilled on pods "a": old'],
  [errors.newResourceExpired('old'), 410, 'Expired', 'old'],
  [errors.newMethodNotSupported(pods, 'patch'), 405, 'MethodNotAllowed', 'patch is not supported on resources of kind "pods"'],
  [
    errors.newServerTimeout(pods, 'list', 1),
    500,
    'ServerTimeout',
    'The list operation against pods could not be completed at this time, please try again.',
  ],
  [errors.newTimeoutError('slow', 0), 504, 'Timeout', 'Timeout: slow'],
  [errors.newTooLargeResourceVersion(5, 3, 1), 504, 'Timeout', 'Timeout: Too large resource version: 5, current: 3'],
  [errors.newInternalError(new Error('x')), 500, 'InternalError', 'Internal error occurred: x'],
  [
    errors.newUnsupportedMediaType(['a', 'b']),
    415,
    'UnsupportedMediaType',
    'the body of the request was in an unknown format - accepted media types include: a, b',
  ],
  [errors.newNotAcceptable(['a']), 406, 'NotAcceptable', 'only the following media types are accepted: a'],
  [errors.newGenericServerResponse(404, 'GET'), 404, 'NotFound', 'the server could not find the requested resource'],
  [errors.newGenericServerResponse(409, 'POST', pods), 409, 'AlreadyExists', 'the server reported a conflict (post pods)'],
  [
    errors.newGenericServerResponse(502, 'GET', pods, 'a', 'bad'),
    502,
    'InternalError',
    'an error on the server ("bad") has prevented the request from succeeding (get pods a)',
  ],
  [
    errors.newGenericServerResponse(418, 'GET'),
    418,
    undefined,
    'the server responded with the status code 418 but did not return more information',
  ],
])('%#', (error, code, reason, message) => {
  expect([error.status.code, error.status.reason, error.status.message, error.message]).toEqual([code, reason, message, message]);
});

test('newInvalid lists at most 10,000 errors', () => {
  const many = Array.from({ length: 20_000 }, (_, i) => required(fieldPath('spec').index(i), ''));
  const { details } = errors.newInvalid({ group: 'apps', kind: 'Deployment' }, 'a', many).status;
  expect(details?.causes).toHaveLength(10_000);
});

test('newInvalid shows the value only for some items of a long list', () => {
  const list = Array.from({ length: 200_000 }, (_, i) => `item-${i}`);
  const many = list.map(() => invalid(fieldPath('spec', 'list'), list, 'no'));
  const { details, message } = errors.newInvalid({ group: 'apps', kind: 'Deployment' }, 'a', many).status;
  expect(details!.causes!.length).toBeGreaterThan(1);
  expect(details!.causes!.length).toBeLessThan(10);
  expect(message!.length).toBeLessThan(10_000_000);
});

test('newInvalid cuts a value that is longer than a request body', () => {
  const { details, message } = errors.newInvalid({ group: '', kind: 'Pod' }, 'a', [
    invalid(fieldPath('spec'), ['x'.repeat(9_000_000)], 'no'),
  ]).status;
  expect(details!.causes![0]!.message).toMatch(/^Invalid value: \["x{100}/);
  expect(details!.causes![0]!.message).toHaveLength(8 * 1024 * 1024);
  expect(message!.length).toBeLessThan(8.5 * 1024 * 1024);
});

test('newInvalid lists each message once', () => {
  const path = fieldPath('spec');
  const error = errors.newInvalid({ group: 'apps', kind: 'Deployment' }, 'a', [
    required(path, ''),
    invalid(path, 5, 'no'),
    required(path, ''),
  ]);
  expect(error.message).toBe('Deployment.apps "a" is invalid: [spec: Required value, spec: Invalid value: 5: no]');
  expect(JSON.stringify(error.status)).toBe(
    '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",' +
      `"message":${JSON.stringify(error.message)},"reason":"Invalid","details":{"name":"a","group":"apps","kind":"Deployment","causes":[` +
      '{"reason":"FieldValueRequired","message":"Required value","field":"spec"},{"reason":"FieldValueInvalid","message":"Invalid value: 5: no","field":"spec"},' +
      '{"reason":"FieldValueRequired","message":"Required value","field":"spec"}]},"code":422}',
  );
});

test('predicates check the reason, then the code, also of a cause', () => {
  const wrapped = new Error('x', { cause: errors.newNotFound(pods, 'a') });
  expect([errors.isNotFound(wrapped), errors.isConflict(wrapped), errors.isNotFound(new Error('y'))]).toEqual([true, false, false]);
  expect(errors.isConflict(errors.newAlreadyExists(pods, 'a'))).toBe(false);
  expect(errors.isNotFound(new errors.StatusError(errors.newStatus(404, '', '')))).toBe(true);
  expect(errors.suggestsClientDelay(errors.newTooManyRequests('x', 3))).toBe(3);
  expect(errors.hasStatusCause(errors.newTooLargeResourceVersion(5, 3, 1), 'ResourceVersionTooLarge')).toBe(true);
});
