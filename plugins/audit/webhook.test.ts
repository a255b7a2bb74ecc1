import type { AuditEvent } from 'kubenest/sdk';
import type { JsonClient } from '#sdk/internal';
import { expect, it } from 'vitest';
import { AuditWebhook } from './webhook.ts';

const event = (auditID: string): AuditEvent =>
  ({
    level: 'Metadata',
    auditID,
    stage: 'RequestReceived',
    user: {},
    requestURI: '/',
    verb: 'get',
    requestReceivedTimestamp: '',
    stageTimestamp: '',
  }) as AuditEvent;

/** A webhook whose client delivers with `deliver`. */
function fixture(deliver: (body: string) => Promise<void>) {
  const errors: unknown[] = [];
  let isDisposed = false;
  const client = { deliver, [Symbol.dispose]: () => (isDisposed = true) } as unknown as JsonClient;
  const logger = { error: (...values: unknown[]) => void errors.push(values) };
  return { backend: new AuditWebhook(client, logger as never), errors, isDisposed: () => isDisposed };
}

it('posts the events of a batch as one list', async () => {
  const sent: string[] = [];
  const { backend } = fixture(async (body) => void sent.push(body));
  expect(await backend.process([event('a'), event('b')])).toBe(true);
  expect(sent.map((body) => JSON.parse(body) as unknown)).toMatchObject([
    { kind: 'EventList', apiVersion: 'audit.k8s.io/v1', items: [{ auditID: 'a' }, { auditID: 'b' }] },
  ]);
});

it('reports events as lost if they cannot be delivered, and logs the reason', async () => {
  const { backend, errors } = fixture(() => Promise.reject(new Error('unreachable')));
  expect(await backend.process([event('a'), event('b')])).toBe(false);
  expect(errors).toEqual([[{ reason: 'unreachable', events: 2 }, 'cannot deliver audit events']]);
});

it('closes its connections when it shuts down', async () => {
  const { backend, isDisposed } = fixture(async () => {});
  await backend.shutDown();
  expect(isDisposed()).toBe(true);
});
