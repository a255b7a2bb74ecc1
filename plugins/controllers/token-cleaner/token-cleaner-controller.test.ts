import type { KubeObject } from 'kubenest/sdk';
import { reconcileTable } from 'kubenest/sdk/testing';
import { partialObject } from '../common/testing/partial-object.ts';
import { TokenCleanerController } from './token-cleaner-controller.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
/** The tests' clock is at 00:16:40. */
const token = (expiration?: string): { secrets: KubeObject[] } => ({
  secrets: [
    partialObject({
      metadata: { name: 't', namespace: 'kube-system', uid: 't' },
      type: 'bootstrap.kubernetes.io/token',
      data: expiration === undefined ? {} : { expiration: base64(expiration) },
    }),
  ],
});
const request = 'kube-system/t';
const writes = ['delete secrets kube-system/t'];

reconcileTable(TokenCleanerController, [
  { name: 'keeps a token that never expires', objects: token(), request, result: {} },
  { name: 'waits until a token expires', objects: token('1970-01-01T00:16:50Z'), request, result: { requeueAfterMs: 10_000 } },
  { name: 'deletes an expired token', objects: token('1970-01-01T02:16:40+02:00'), request, writes, result: {} },
  { name: 'deletes a token with a malformed time', objects: token('1970-01-01'), request, writes },
  { name: 'ignores a token that is gone', request, result: {} },
]);
