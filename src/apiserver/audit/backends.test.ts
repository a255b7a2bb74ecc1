import { describe, expect, it } from 'vitest';
import { BatchingBackend, type BatchOptions } from './batching-backend.ts';
import { type AuditBackend, type AuditEvent, eventJson } from './event.ts';
import { EventsOfTurn } from './events-of-turn.ts';
import { TruncatingBackend } from './truncating-backend.ts';

const time = '2026-01-02T03:04:05.000000Z';
const event = (auditID: string, more: Partial<AuditEvent> = {}): AuditEvent => ({
  level: 'RequestResponse',
  auditID,
  stage: 'ResponseComplete',
  requestURI: '/',
  verb: 'get',
  user: {},
  impersonatedUser: undefined,
  authenticationMetadata: undefined,
  sourceIPs: undefined,
  userAgent: undefined,
  objectRef: undefined,
  responseStatus: undefined,
  requestObject: undefined,
  responseObject: undefined,
  requestReceivedTimestamp: time,
  stageTimestamp: time,
  annotations: undefined,
  ...more,
});

/** A backend that keeps the batches that it receives. */
class Kept implements AuditBackend {
  readonly name = 'kept';
  readonly batches: (readonly AuditEvent[])[] = [];
  isShutDown = false;

  process(events: readonly AuditEvent[]): boolean {
    this.batches.push(events);
    return true;
  }
  async shutDown(): Promise<void> {
    this.isShutDown = true;
  }
  get ids(): string[] {
    return this.batches.map((batch) => batch.map(({ auditID }) => auditID).join(''));
  }
}

it.each<{ name: string; more: Partial<AuditEvent>; says: string }>([
  {
    name: 'escapes like Go',
    more: { auditID: 'a&b<c', requestURI: '/api?limit=5&continue=x', userAgent: 'a<b>&é"\u2028\ud800' },
    says: '"auditID":"a\\u0026b\\u003cc","stage":"ResponseComplete","requestURI":"/api?limit=5\\u0026continue=x","verb":"get","user":{},"userAgent":"a\\u003cb\\u003e\\u0026é\\"\\u2028\\ufffd"',
  },
  {
    name: 'sorts map keys and keeps the order of struct fields',
    more: {
      user: { username: 'jane', uid: 'u', groups: ['g'], extra: { z: ['1'], a: ['<'] } },
      sourceIPs: ['::1'],
      annotations: { b: '2', a: '1' },
    },
    says: '"user":{"username":"jane","uid":"u","groups":["g"],"extra":{"a":["\\u003c"],"z":["1"]}},"sourceIPs":["::1"]',
  },
  {
    name: 'omits empty fields',
    more: { sourceIPs: [], userAgent: '' },
    says: '"requestURI":"/","verb":"get","user":{},"requestReceivedTimestamp"',
  },
  {
    name: 'contains objects unchanged in one line',
    more: { requestObject: '{\n"a":1}', responseStatus: { metadata: {}, code: 200 } },
    says: '"user":{},"responseStatus":{"metadata":{},"code":200},"requestObject":{"a":1},"requestReceivedTimestamp"',
  },
])('an event $name', ({ more, says }) => {
  expect(eventJson(event('id', more))).toContain(says);
});

describe('BatchingBackend', () => {
  const batching = (options: Partial<BatchOptions>) => {
    const kept = new Kept();
    return { kept, backend: new BatchingBackend(kept, { bufferSize: 10, maxBatchSize: 3, maxWaitMs: 0, throttle: undefined, ...options }) };
  };

  it('forwards full batches, and the rest on shutdown', async () => {
    const { kept, backend } = batching({});
    for (const id of 'abcdefg') expect(backend.process([event(id)])).toBe(true);
    await backend.shutDown();
    expect([kept.ids, kept.isShutDown]).toEqual([['abc', 'def', 'g'], true]);
    expect(backend.process([event('h')])).toBe(false);
  });

  it('forwards a partial batch after the maximum wait', async () => {
    const { kept, backend } = batching({ maxWaitMs: 10 });
    backend.process([event('a')]);
    await expect.poll(() => kept.ids).toEqual(['a']);
    await backend.shutDown();
  });

  it('drops and counts events beyond the buffer', async () => {
    const { kept, backend } = batching({ bufferSize: 2 });
    expect([...'abc'].map((id) => backend.process([event(id)]))).toEqual([true, true, false]);
    await backend.shutDown();
    expect(kept.ids).toEqual(['ab']);
  });

  it('does not exceed the throttle', async () => {
    const { kept, backend } = batching({ maxBatchSize: 1, throttle: { qps: 20, burst: 1 } });
    const begin = performance.now();
    for (const id of 'abc') backend.process([event(id)]);
    await expect.poll(() => kept.ids, { interval: 5 }).toEqual(['a', 'b', 'c']);
    expect(performance.now() - begin).toBeGreaterThan(80);
    await backend.shutDown();
  });
});

describe('TruncatingBackend', () => {
  const small = Buffer.byteLength(eventJson(event('a')));
  const large = { requestObject: JSON.stringify('x'.repeat(1_000)), responseObject: JSON.stringify('y'.repeat(1_000)) };

  it('removes the objects from events that are too large and annotates them', async () => {
    const kept = new Kept();
    const backend = new TruncatingBackend(kept, { maxEventSize: small + 200, maxBatchSize: 10_000 });
    expect(await backend.process([event('a', large), event('b', { annotations: { k: 'v' }, ...large }), event('c')])).toBe(true);
    expect(
      kept.batches.flat().map(({ requestObject, responseObject, annotations }) => [requestObject, responseObject, annotations]),
    ).toEqual([
      [undefined, undefined, { 'audit.k8s.io/truncated': 'true' }],
      [undefined, undefined, { k: 'v', 'audit.k8s.io/truncated': 'true' }],
      [undefined, undefined, undefined],
    ]);
  });

  it('drops and counts events that are too large without their objects', async () => {
    const kept = new Kept();
    const backend = new TruncatingBackend(kept, { maxEventSize: small, maxBatchSize: 10_000 });
    expect(await backend.process([event('a', { userAgent: 'u'.repeat(500) }), event('b')])).toBe(false);
    expect(kept.ids).toEqual(['b']);
  });

  it('splits batches that are too large', async () => {
    const kept = new Kept();
    const backend = new TruncatingBackend(kept, { maxEventSize: small, maxBatchSize: 2 * small });
    await backend.process([...'abcde'].map((id) => event(id)));
    expect(kept.ids).toEqual(['ab', 'cd', 'e']);
  });
});

describe('EventsOfTurn', () => {
  const turnOf = (onError: (error: unknown) => void = () => {}) => {
    const kept = new Kept();
    return { kept, ofTurn: new EventsOfTurn(kept, onError) };
  };
  const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

  it('forwards the events of a turn together, then sends their responses', async () => {
    const { kept, ofTurn } = turnOf();
    const sent: string[] = [];
    const answer = (id: string) => () => void sent.push(`${id} after ${kept.ids.join()}`);
    ofTurn.processBefore([event('a'), event('b')], answer('b'));
    ofTurn.processBefore([event('c')], answer('c'));
    void ofTurn.process([event('d')]);
    expect(kept.ids).toEqual(['d']);
    await nextTurn();
    ofTurn.processBefore([event('e')], answer('e'));
    await nextTurn();
    expect(kept.ids).toEqual(['d', 'abc', 'e']);
    expect(sent).toEqual(['b after d,abc', 'c after d,abc', 'e after d,abc,e']);
  });

  it('reports a response that fails and sends the others', async () => {
    const errors: unknown[] = [];
    const { ofTurn } = turnOf((error) => errors.push(error));
    const sent: string[] = [];
    ofTurn.processBefore([event('a')], () => {
      throw new Error('gone');
    });
    ofTurn.processBefore([event('b')], () => void sent.push('b'));
    await nextTurn();
    expect({ errors, sent }).toEqual({ errors: [new Error('gone')], sent: ['b'] });
  });

  it('forwards pending events before the backend shuts down', async () => {
    const { kept, ofTurn } = turnOf();
    ofTurn.processBefore([event('a')], () => {});
    await ofTurn.shutDown();
    expect({ ids: kept.ids, isShutDown: kept.isShutDown }).toEqual({ ids: ['a'], isShutDown: true });
  });
});
