import { expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { WebhookError } from '#apiserver/network/webhook/json-client';
import { ClusterInformer, type InformerApi } from './cluster-informer.ts';

const map = (name: string, resourceVersion: string, uid = name): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'default', uid, resourceVersion } }) as KubeObject;

type Event = { readonly type: string; readonly object: object };

/** A cluster whose lists and watches a test determines. Each watch yields its events and then ends, fails, or stays open. */
class FakeApi implements InformerApi {
  readonly requests: string[] = [];
  readonly lists: { readonly items: readonly KubeObject[]; readonly resourceVersion: string; readonly next?: string }[] = [];
  readonly watches: { readonly events: readonly Event[]; readonly end?: 'ended' | Error }[] = [];

  readonly client = {
    read: <T>(path: string): Promise<T> => {
      this.requests.push(path);
      const list = this.lists.shift();
      if (!list) return Promise.reject(new Error('no list'));
      const { items, resourceVersion, next } = list;
      return Promise.resolve({ apiVersion: 'v1', kind: 'ConfigMapList', metadata: { resourceVersion, continue: next }, items } as T);
    },
  };

  async *watch(path: string, signal: AbortSignal): AsyncIterable<Readonly<Record<string, unknown>>> {
    this.requests.push(path);
    const { events, end } = this.watches.shift() ?? { events: [] };
    for (const event of events) yield { ...event };
    if (end instanceof Error) throw end;
    if (end === undefined) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  }

  /** Values of a parameter in all watches so far. */
  get revisions(): (string | null)[] {
    return this.requests
      .filter((path) => path.includes('watch='))
      .map((path) => new URL(path, 'http://x').searchParams.get('resourceVersion'));
  }
}

interface Followed extends Disposable {
  readonly informer: ClusterInformer;
  readonly changes: string[];
  readonly failures: string[];
}

function follow(api: InformerApi): Followed {
  const changes: string[] = [];
  const failures: string[] = [];
  const informer = new ClusterInformer(api, { path: () => Promise.resolve('/api/v1/configmaps') }, ({ message }) => failures.push(message));
  informer.subscribe((type, { metadata }) => changes.push(`${type} ${metadata.name}@${metadata.resourceVersion}`));
  return { informer, changes, failures, [Symbol.dispose]: () => informer[Symbol.dispose]() };
}

it('reads a list in chunks, then follows its changes', async () => {
  const api = new FakeApi();
  api.lists.push({ items: [map('a', '1')], resourceVersion: '9', next: 'more' }, { items: [map('b', '2')], resourceVersion: '9' });
  api.watches.push({
    events: [
      { type: 'MODIFIED', object: map('a', '10') },
      { type: 'DELETED', object: map('b', '11') },
    ],
  });
  using followed = follow(api);
  expect(() => followed.informer.list()).toThrow('not read yet');
  await followed.informer.synced;
  await vi.waitFor(() => expect(followed.changes).toEqual(['ADDED a@1', 'ADDED b@2', 'MODIFIED a@10', 'DELETED b@11']));
  expect(followed.informer.get('default', 'a')?.kind).toBe('ConfigMap');
  expect(followed.informer.list('other')).toEqual([]);
  expect(api.requests[1]).toContain('continue=more');
});

it('resumes a watch that ended at the revision of the last bookmark, without another list', async () => {
  const api = new FakeApi();
  api.lists.push({ items: [], resourceVersion: '5' });
  api.watches.push(
    { events: [{ type: 'BOOKMARK', object: map('', '42') }], end: 'ended' },
    { events: [{ type: 'ADDED', object: map('a', '43') }] },
  );
  using followed = follow(api);
  await vi.waitFor(() => expect(followed.changes).toEqual(['ADDED a@43']));
  expect(api.revisions).toEqual(['5', '42']);
  expect(followed.failures).toEqual([]);
});

it.each([
  { name: 'an event', end: { events: [{ type: 'ERROR', object: { code: 410, message: 'too old' } }], end: 'ended' as const } },
  { name: 'an answer', end: { events: [], end: new WebhookError('the service answered 410', false, 410) } },
])('reads the list again after 410 Gone in $name, and reports what changed meanwhile', async ({ end }) => {
  const api = new FakeApi();
  api.lists.push(
    { items: [map('a', '1'), map('b', '2'), map('c', '3')], resourceVersion: '5' },
    { items: [map('a', '1'), map('c', '8', 'another')], resourceVersion: '9' },
  );
  api.watches.push(end);
  using followed = follow(api);
  await vi.waitFor(() => expect(api.revisions).toEqual(['5', '9']));
  expect(followed.changes.slice(3)).toEqual(['DELETED b@2', 'DELETED c@3', 'ADDED c@8']);
});

it('tries again after failures, and reports them', async () => {
  const api = new FakeApi();
  using followed = follow(api);
  await vi.waitFor(() => expect(followed.failures).toEqual(['no list']));
  expect(followed.informer.failure?.message).toBe('no list');
  api.lists.push({ items: [map('a', '1')], resourceVersion: '1' });
  await vi.waitFor(() => expect(followed.informer.isSynced).toBe(true));
  expect(followed.informer.failure).toBeUndefined();
});
