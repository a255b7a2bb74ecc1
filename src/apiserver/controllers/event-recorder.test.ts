import { newForbidden, newNotFound, type StatusError } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { FakeClock, turn } from '#apiserver/base/fake-clock';
import type { RequestClient } from '#apiserver/registry/client';
import { expect, it, vi } from 'vitest';
import type { EventForm } from './event-form.ts';
import { ClientEventRecorder } from './event-recorder.ts';

interface Write {
  readonly verb: 'create' | 'patch';
  readonly name: string;
  readonly body: Record<string, unknown>;
}

const pod: KubeObject = { apiVersion: 'v1', kind: 'Pod', metadata: { namespace: 'ns', name: 'p', uid: 'u', resourceVersion: '7' } };

function newRecorder(form: EventForm): { recorder: ClientEventRecorder; writes: Write[]; clock: FakeClock; expired: { isTrue: boolean } } {
  const writes: Write[] = [];
  const expired = { isTrue: false };
  const client: Pick<RequestClient, 'create' | 'patch'> = {
    create: async (_, object) => {
      writes.push({ verb: 'create', name: object.metadata.name as string, body: object });
      return object;
    },
    patch: async <T extends KubeObject>(_target: object, _namespace: string, name: string, { patch }: { readonly patch: object }) => {
      if (expired.isTrue) throw newNotFound({ group: '', resource: 'events' }, name);
      writes.push({ verb: 'patch', name, body: patch as Record<string, unknown> });
      return {} as T;
    },
  };
  const clock = new FakeClock();
  const silent = { info() {}, warn() {}, error() {} };
  const recorder = new ClientEventRecorder({ component: 'test', form, client: client as RequestClient, clock, logger: silent });
  return { recorder, writes, clock, expired };
}

it('writes an event of core/v1 and counts equal ones in it', async () => {
  const { recorder, writes, clock } = newRecorder('v1');
  recorder.event(pod, 'Normal', 'Started', 'container started');
  recorder.event(pod, 'Normal', 'Started', 'container started');
  await turn();
  await clock.advance(60_000);
  recorder.event(pod, 'Normal', 'Started', 'container started');
  await turn();
  expect(writes[0]).toMatchObject({
    verb: 'create',
    name: expect.stringMatching(/^p\.[0-9a-f]+$/),
    body: {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { namespace: 'ns' },
      involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'p', uid: 'u', resourceVersion: '7' },
      reason: 'Started',
      message: 'container started',
      source: { component: 'test' },
      reportingComponent: 'test',
      type: 'Normal',
      count: 1,
      firstTimestamp: '1970-01-01T00:16:40Z',
      lastTimestamp: '1970-01-01T00:16:40Z',
    },
  });
  expect(writes.slice(1).map(({ verb, name, body }) => ({ verb, isSame: name === writes[0]?.name, ...body }))).toEqual([
    { verb: 'patch', isSame: true, count: 2, lastTimestamp: '1970-01-01T00:16:40Z', message: 'container started' },
    { verb: 'patch', isSame: true, count: 3, lastTimestamp: '1970-01-01T00:17:40Z', message: 'container started' },
  ]);
});

it('names the events of one millisecond in their order', async () => {
  const { recorder, writes } = newRecorder('v1');
  for (const reason of ['A', 'B', 'C', 'D', 'E', 'F']) recorder.event(pod, 'Normal', reason, reason);
  await vi.waitFor(() => expect(writes).toHaveLength(6));
  const names = writes.map(({ name }) => name);
  expect(names).toEqual([...new Set(names)].sort());
});

it('writes an event of events.k8s.io and counts equal ones as a series', async () => {
  const { recorder, writes } = newRecorder('events.k8s.io');
  recorder.event(pod, 'Warning', 'Failed', 'no', { action: 'Binding', related: { ...pod, metadata: { name: 'q' } } });
  recorder.event(pod, 'Warning', 'Failed', 'no', { action: 'Binding' });
  await turn();
  expect(writes[0]?.body).toMatchObject({
    apiVersion: 'events.k8s.io/v1',
    reportingController: 'test',
    action: 'Binding',
    reason: 'Failed',
    regarding: { kind: 'Pod', name: 'p' },
    related: { name: 'q' },
    note: 'no',
    type: 'Warning',
    eventTime: '1970-01-01T00:16:40.000000Z',
  });
  expect(writes[1]).toMatchObject({ verb: 'patch', body: { series: { count: 2, lastObservedTime: '1970-01-01T00:16:40.000000Z' } } });
});

it('counts equal events about another state of the object separately in the form of events.k8s.io', async () => {
  const changed = { ...pod, metadata: { ...pod.metadata, resourceVersion: '8' } };
  for (const [form, verbs] of [
    ['events.k8s.io', ['create', 'create', 'patch']],
    ['v1', ['create', 'patch', 'patch']],
  ] as const) {
    const { recorder, writes } = newRecorder(form);
    for (const state of [pod, changed, changed]) recorder.event(state, 'Warning', 'Failed', 'no');
    await turn();
    expect(writes.map(({ verb }) => verb)).toEqual(verbs);
  }
});

it('creates an event again whose object has expired', async () => {
  const { recorder, writes, expired } = newRecorder('v1');
  recorder.event(pod, 'Normal', 'Started', 'x');
  await turn();
  expired.isTrue = true;
  recorder.event(pod, 'Normal', 'Started', 'x');
  await turn();
  expect(writes.map(({ verb, body }) => [verb, body['count']])).toEqual([
    ['create', 1],
    ['create', 2],
  ]);
});

it('combines events that differ only in their message', async () => {
  const { recorder, writes } = newRecorder('v1');
  for (let i = 0; i < 12; i++) recorder.event(pod, 'Normal', 'Pulled', `image ${i}`);
  await turn();
  const messages = writes.map(({ verb, body }) => `${verb}: ${String(body['message'])}`);
  expect(messages.slice(8)).toEqual([
    'create: image 8',
    'create: (combined from similar events): image 9',
    'patch: (combined from similar events): image 10',
    'patch: (combined from similar events): image 11',
  ]);
});

it('limits the events of one object, not those of others', async () => {
  const { recorder, writes, clock } = newRecorder('v1');
  for (let i = 0; i < 40; i++) recorder.event(pod, 'Normal', `Reason${i}`, 'x');
  await turn();
  expect(writes).toHaveLength(25);
  recorder.event({ ...pod, metadata: { ...pod.metadata, uid: 'v' } }, 'Normal', 'Reason', 'x');
  await clock.advance(300_000);
  recorder.event(pod, 'Normal', 'Later', 'x');
  await turn();
  expect(writes).toHaveLength(27);
});

it.each([
  { name: 'a namespace that is being deleted', error: terminating('NamespaceTerminating'), warnings: 0 },
  { name: 'a namespace that is gone', error: newNotFound({ group: '', resource: 'namespaces' }, 'ns'), warnings: 0 },
  { name: 'any other reason', error: terminating('Other'), warnings: 1 },
])('logs the refusal of an event because of $name $warnings times', async ({ error, warnings }) => {
  const logged: string[] = [];
  const logger = { info() {}, warn: (_fields: object, message: string) => void logged.push(message), error() {} };
  const client = { create: () => Promise.reject(error) } as unknown as RequestClient;
  const recorder = new ClientEventRecorder({ component: 'test', form: 'v1', client, clock: new FakeClock(), logger });
  recorder.event(pod, 'Normal', 'Killing', 'stopping');
  await turn();
  expect(logged).toEqual(Array.from({ length: warnings }, () => 'cannot write an event'));
});

it('keeps the events of a burst, and drops those that wait at the shutdown without a word', async () => {
  const ending = new AbortController();
  const logged: string[] = [];
  let created = 0;
  const logger = { info() {}, warn: (_fields: object, message: string) => void logged.push(message), error() {} };
  const client = {
    create: async () => {
      await turn();
      created += 1;
      if (created < 5_000) return;
      ending.abort();
      throw newForbidden({ group: '', resource: 'events' }, 'e', 'the server is shutting down');
    },
  } as unknown as RequestClient;
  const options = { component: 'kubelet', form: 'v1', client, clock: new FakeClock(), logger, signal: ending.signal } as const;
  const recorder = new ClientEventRecorder(options);
  for (let i = 0; i < 6_000; i++)
    recorder.event({ ...pod, metadata: { ...pod.metadata, name: `p${i}`, uid: `u${i}` } }, 'Normal', 'Pulled', 'image');
  while (!ending.signal.aborted) await turn();
  await turn();
  expect([created, logged]).toEqual([5_000, []]);
});

it('reports when all events are written', async () => {
  const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
  const written: string[] = [];
  const client = {
    create: async (_target: object, { metadata }: KubeObject) => {
      await answered;
      written.push(metadata.name ?? '');
    },
  } as unknown as RequestClient;
  const logger = { info() {}, warn() {}, error() {} };
  const recorder = new ClientEventRecorder({ component: 'test', form: 'v1', client, clock: new FakeClock(), logger });
  await recorder.flushed();
  for (let i = 0; i < 20; i++)
    recorder.event({ ...pod, metadata: { ...pod.metadata, name: `p${i}`, uid: `u${i}` } }, 'Normal', 'Pulled', 'image');
  const flushed = recorder.flushed();
  answer();
  await flushed;
  expect(written).toHaveLength(20);
});

function terminating(reason: string): StatusError {
  const error = newForbidden({ group: '', resource: 'events' }, 'e', 'no');
  error.status.details = { causes: [{ reason, message: 'being deleted' }] };
  return error;
}
