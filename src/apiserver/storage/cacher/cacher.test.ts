import { Buffer } from 'node:buffer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { StatusError } from '#apimachinery/api/errors';
import { FakeStorage, FakeStorageWithFeed } from '../fake-storage.ts';
import type { Revision } from '../storage.ts';
import type { Cacher, CacherOptions } from './cacher.ts';
import type { CacheList, CacheListOptions } from './list-query.ts';
import { encodeContinue } from './continue-token.ts';
import { maxHistory } from './event-history.ts';
import { label, named, newCacher, objectsOf, onNode, pod, put, remove, RecordingSink, show } from './test-fixture.ts';
import { FakeClock, turn } from '#apiserver/base/fake-clock';

const cachers: Cacher[] = [];
const storages: FakeStorage[] = [];
afterEach(async () => {
  for (const cacher of cachers.splice(0)) cacher.close();
  for (const storage of storages.splice(0)) await storage.close();
});

function newStorage(hasFeed: boolean): FakeStorage {
  const storage = hasFeed ? new FakeStorageWithFeed() : new FakeStorage();
  storages.push(storage);
  return storage;
}

async function start(storage: FakeStorage, options: Partial<CacherOptions> = {}): Promise<Cacher> {
  const cacher = newCacher(storage, options);
  cachers.push(cacher);
  await cacher.whenReady();
  return cacher;
}

async function statusOf(action: () => unknown): Promise<string> {
  try {
    await action();
    return 'success';
  } catch (error) {
    if (!(error instanceof StatusError)) return `${(error as Error).name}: ${(error as Error).message}`;
    const { code, reason, message } = error.status;
    return `${code} ${reason}: ${message}`;
  }
}

describe.each([
  ['commits', true],
  ['a watch', false],
])('a cache fed by %s', (_, hasFeed) => {
  let storage: FakeStorage;
  let clock: FakeClock;
  beforeEach(() => {
    storage = newStorage(hasFeed);
    clock = new FakeClock();
  });

  const list = async (cacher: Cacher, options: Partial<CacheListOptions> = {}): Promise<CacheList> =>
    cacher.list({ scope: '/pods/', ...options });

  describe('get', () => {
    it('returns the most recent state, even immediately after a write', async () => {
      const cacher = await start(storage);
      expect(await cacher.get('/pods/ns/a')).toBeUndefined();
      for (let i = 0; i < 3; i++) {
        const revision = await put(storage, '/pods/ns/a');
        expect((await cacher.get('/pods/ns/a'))?.revision).toBe(revision);
      }
      await remove(storage, '/pods/ns/a');
      expect(await cacher.get('/pods/ns/a')).toBeUndefined();
    });

    it.each([
      ['ready', true],
      ['not ready', false],
    ])('returns nothing for an invalid name when the cache is %s', async (_name, isReady) => {
      if (!isReady) storage.listError = new Error('storage is away');
      const cacher = newCacher(storage, { clock });
      cachers.push(cacher);
      await cacher.whenTried();
      storage.listError = undefined;
      expect(cacher.ready).toBe(isReady);
      expect(await cacher.get('/pods/ns/a\0b')).toBeUndefined();
    });

    it('returns an empty list for an invalid name', async () => {
      const cacher = await start(storage);
      const revision = await put(storage, '/pods/ns/a');
      const exact = { resourceVersion: String(revision), resourceVersionMatch: 'Exact' as const };
      for (const scope of ['/pods/a\0b/', '/pods/ns/a\0b'])
        for (const options of [{}, exact]) expect(await list(cacher, { scope, ...options })).toMatchObject({ count: 0, revision });
    });

    it.each(['0', 'created', 'updated'])('with version %s reads from the cache', async (version) => {
      const cacher = await start(storage);
      const created = await put(storage, '/pods/ns/a');
      const updated = await put(storage, '/pods/ns/a');
      await turn();
      storage.calls.get = 0;
      const resourceVersion = { 0: '0', created: String(created), updated: String(updated) }[version]!;
      const object = cacher.get('/pods/ns/a', resourceVersion);
      expect(object).not.toBeInstanceOf(Promise);
      expect((await object)?.revision).toBe(updated);
      expect(storage.calls.get).toBe(0);
    });

    it('times out with 504 if the revision never arrives', async () => {
      const cacher = await start(storage, { clock });
      const current = await put(storage, '/pods/ns/a');
      await turn();
      const outcome = statusOf(() => cacher.get('/pods/ns/a', String(current + 10)));
      await clock.advance(2_900);
      expect(await Promise.race([outcome, turn().then(() => 'waits')])).toBe('waits');
      await clock.advance(200);
      expect(await outcome).toBe(`504 Timeout: Timeout: Too large resource version: ${current + 10}, current: ${current}`);
    });

    it('waits for a revision that arrives', async () => {
      const cacher = await start(storage, { clock });
      const current = await storage.currentRevision();
      const object = cacher.get('/pods/ns/a', String(current + 2));
      await put(storage, '/pods/ns/a');
      await put(storage, '/pods/ns/a');
      await turn();
      expect((await object)?.revision).toBe(current + 2);
    });

    it('throws a plain error for an invalid version', async () => {
      const cacher = await start(storage);
      expect(await statusOf(() => cacher.get('/pods/ns/a', '-5'))).toBe(
        'Error: resourceVersion: Invalid value: "-5": strconv.ParseUint: parsing "-5": invalid syntax',
      );
    });
  });

  describe('list', () => {
    let cacher: Cacher;
    /** Revisions of: a, b (other namespace), c, a again, the deletion of c, d. */
    let _revisions: Revision[];
    beforeEach(async () => {
      await put(storage, '/pods/ns/early');
      cacher = await start(storage, { clock });
      _revisions = [
        await put(storage, '/pods/ns/a', { labels: { l: 'x' }, nodeName: 'n1' }),
        await put(storage, '/pods/ns-b/b', { labels: { l: 'y' }, nodeName: 'n1' }),
        await put(storage, '/pods/ns/c', { labels: { l: 'x' }, nodeName: 'n2' }),
        await put(storage, '/pods/ns/a', { labels: { l: 'y' }, nodeName: 'n2' }),
        await remove(storage, '/pods/ns/c'),
        await put(storage, '/pods/ns/d', { labels: { l: 'x' } }),
      ];
      await turn();
    });
    const present = 'b:4 a:6 d:8 early:2';

    const matrix: readonly {
      readonly name: string;
      readonly options: Partial<CacheListOptions>;
      readonly items: string;
      readonly revision: number;
      readonly fromStorage?: boolean;
    }[] = [
      { name: 'unset', options: {}, items: present, revision: 8 },
      { name: '0', options: { resourceVersion: '0' }, items: present, revision: 8 },
      { name: 'N', options: { resourceVersion: '4' }, items: present, revision: 8 },
      { name: 'N NotOlderThan', options: { resourceVersion: '4', resourceVersionMatch: 'NotOlderThan' }, items: present, revision: 8 },
      { name: '0 NotOlderThan', options: { resourceVersion: '0', resourceVersionMatch: 'NotOlderThan' }, items: present, revision: 8 },
      { name: 'N Exact', options: { resourceVersion: '5', resourceVersionMatch: 'Exact' }, items: 'b:4 a:3 c:5 early:2', revision: 5 },
      {
        name: 'N Exact, the revision of the initial list',
        options: { resourceVersion: '2', resourceVersionMatch: 'Exact' },
        items: 'early:2',
        revision: 2,
      },
      {
        name: 'N Exact, before the initial list',
        options: { resourceVersion: '1', resourceVersionMatch: 'Exact' },
        items: '',
        revision: 1,
        fromStorage: true,
      },
      {
        name: 'N Exact, the newest revision',
        options: { resourceVersion: '8', resourceVersionMatch: 'Exact' },
        items: present,
        revision: 8,
      },
      { name: 'unset, limit', options: { limit: 2 }, items: 'b:4 a:6', revision: 8 },
      { name: '0, limit: ignored', options: { resourceVersion: '0', limit: 2 }, items: present, revision: 8 },
      { name: 'N, limit: exactly N', options: { resourceVersion: '5', limit: 3 }, items: 'b:4 a:3 c:5', revision: 5 },
      {
        name: 'N NotOlderThan, limit',
        options: { resourceVersion: '5', resourceVersionMatch: 'NotOlderThan', limit: 3 },
        items: 'b:4 a:6 d:8',
        revision: 8,
      },
      { name: 'N Exact, limit', options: { resourceVersion: '6', resourceVersionMatch: 'Exact', limit: 1 }, items: 'b:4', revision: 6 },
      { name: 'a namespace', options: { scope: '/pods/ns/' }, items: 'a:6 d:8 early:2', revision: 8 },
      { name: 'a namespace that is a prefix of another', options: { scope: '/pods/n/' }, items: '', revision: 8 },
      {
        name: 'a namespace, Exact',
        options: { scope: '/pods/ns/', resourceVersion: '5', resourceVersionMatch: 'Exact' },
        items: 'a:3 c:5 early:2',
        revision: 5,
      },
      { name: 'a label', options: { predicate: label('l', 'x') }, items: 'd:8', revision: 8 },
      {
        name: 'a label, Exact',
        options: { predicate: label('l', 'x'), resourceVersion: '5', resourceVersionMatch: 'Exact' },
        items: 'a:3 c:5',
        revision: 5,
      },
      { name: 'an indexed field', options: { predicate: onNode('n2') }, items: 'a:6', revision: 8 },
      { name: 'an indexed field, namespace', options: { scope: '/pods/ns-b/', predicate: onNode('n1') }, items: 'b:4', revision: 8 },
      {
        name: 'an indexed field, Exact',
        options: { predicate: onNode('n1'), resourceVersion: '5', resourceVersionMatch: 'Exact' },
        items: 'b:4 a:3',
        revision: 5,
      },
      { name: 'one key', options: { scope: '/pods/ns/a' }, items: 'a:6', revision: 8 },
      { name: 'a missing key', options: { scope: '/pods/ns/c' }, items: '', revision: 8 },
      {
        name: 'one key that the predicate does not match',
        options: { scope: '/pods/ns/a', predicate: named('x') },
        items: '',
        revision: 8,
      },
      { name: 'one key, N, limit: not older', options: { scope: '/pods/ns/a', resourceVersion: '3', limit: 1 }, items: 'a:6', revision: 8 },
      {
        name: 'one key, Exact',
        options: { scope: '/pods/ns/a', resourceVersion: '3', resourceVersionMatch: 'Exact' },
        items: 'a:3',
        revision: 3,
      },
    ];
    it.each(matrix)('$name', async ({ options, items, revision, fromStorage = false }) => {
      storage.calls.list = 0;
      const result = await list(cacher, options);
      expect(show(result)).toBe(items);
      expect(result.count).toBe(objectsOf(result).length);
      expect(result.revision).toBe(revision);
      expect(storage.calls.list).toBe(fromStorage ? 1 : 0);
    });

    it("includes the client's own writes immediately", async () => {
      const revision = await put(storage, '/pods/ns/z');
      const result = await list(cacher);
      expect(result.revision).toBe(revision);
      expect(show(result)).toBe(`${present} z:${revision}`);
    });

    it('has the revision of writes of other resources', async () => {
      const revision = await put(storage, '/secrets/ns/z');
      expect((await list(cacher)).revision).toBe(revision);
    });

    // Upstream: TestListContinuation, RunTestListPaging.
    it('returns pages of the state of the first page', async () => {
      const first = await list(cacher, { limit: 1 });
      expect(first).toMatchObject({ revision: 8, remainingItemCount: 3 });
      await put(storage, '/pods/ns/a');
      await remove(storage, '/pods/ns/d');
      await put(storage, '/pods/ns/new');
      await turn();
      storage.calls.list = 0;
      const second = await list(cacher, { limit: 2, continue: first.continueToken });
      expect(show(second)).toBe('a:6 d:8');
      expect(second).toMatchObject({ revision: 8, remainingItemCount: 1 });
      const third = await list(cacher, { limit: 2, continue: second.continueToken, resourceVersion: '0' });
      expect(show(third)).toBe('early:2');
      expect(third).toMatchObject({ revision: 8, remainingItemCount: undefined, continueToken: '' });
      expect(storage.calls.list).toBe(0);
    });

    it('with a selector has no remaining count and returns no superfluous page', async () => {
      const first = await list(cacher, { limit: 1, predicate: label('l', 'y') });
      expect(show(first)).toBe('b:4');
      expect(first.remainingItemCount).toBeUndefined();
      const second = await list(cacher, { limit: 5, predicate: label('l', 'y'), continue: first.continueToken });
      expect(show(second)).toBe('a:6');
      expect(second.continueToken).toBe('');
    });

    // Upstream: RunTestListInconsistentContinuation.
    it('fails with 410 for a token of a compacted state and returns a token for the rest in the current state', async () => {
      const token = encodeContinue('/pods/ns/a\0', '/pods/', 1);
      await storage.compact(4);
      const error = (await list(cacher, { limit: 1, continue: token }).catch((reason: unknown) => reason)) as StatusError;
      expect(error.status).toMatchObject({ code: 410, reason: 'Expired' });
      expect(error.message).toMatch(
        /^The provided continue parameter is too old to display a consistent list result\. .* may show up in the list\.$/,
      );
      const next = error.status.metadata.continue!;
      expect(JSON.parse(Buffer.from(next, 'base64url').toString())).toEqual({ v: 'meta.k8s.io/v1', rv: -1, start: 'ns/a\0' });
      const rest = await list(cacher, { limit: 1, continue: next });
      expect(show(rest)).toBe('d:8');
      expect(rest).toMatchObject({ revision: 8, remainingItemCount: 1 });
      expect(show(await list(cacher, { continue: rest.continueToken }))).toBe('early:2');
    });

    // A client that pages slowly learns it as the clients of other servers do. Upstream: e2e "API chunking".
    it('fails with 410 for a token that is used again and again, 15 s after the compaction of its state', async () => {
      const { continueToken } = await list(cacher, { limit: 1 });
      const last = await put(storage, '/pods/ns/new');
      await turn();
      await storage.compact(last);
      expect(show(await list(cacher, { limit: 1, continue: continueToken }))).toBe('a:6');
      await clock.advance(15_000);
      expect(await statusOf(() => list(cacher, { limit: 1, continue: continueToken }))).toMatch(
        /^410 Expired: The provided continue parameter/,
      );
      expect((await list(cacher)).count).toBe(5);
    });

    // Upstream: TestMatchExactResourceVersionFallback, RunTestCompactRevision.
    it('fails with 410 for a compacted state', async () => {
      await storage.compact(4);
      expect(await statusOf(() => list(cacher, { resourceVersion: '1', resourceVersionMatch: 'Exact' }))).toBe(
        '410 Expired: The resourceVersion for the provided list is too old.',
      );
      expect(await statusOf(() => list(cacher, { resourceVersion: '1', limit: 1 }))).toBe(
        '410 Expired: The resourceVersion for the provided list is too old.',
      );
    });

    // Upstream: TestWaitUntilFreshAndListTimeout.
    it.each([
      ['N', { resourceVersion: '100' }],
      ['NotOlderThan', { resourceVersion: '100', resourceVersionMatch: 'NotOlderThan' }],
      ['Exact', { resourceVersion: '100', resourceVersionMatch: 'Exact' }],
      ['N, limit', { resourceVersion: '100', limit: 1 }],
      ['token', { continue: encodeContinue('/pods/ns/a', '/pods/', 100) }],
    ])('times out with 504 if the revision never arrives: %s', async (_name, options) => {
      const outcome = statusOf(() => list(cacher, options));
      await clock.advance(3_100);
      expect(await outcome).toBe('504 Timeout: Timeout: Too large resource version: 100, current: 8');
    });

    const bad: readonly (readonly [name: string, options: Partial<CacheListOptions>, status: string])[] = [
      [
        'a version',
        { resourceVersion: 'abc' },
        '400 BadRequest: invalid resource version: resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
      ],
      [
        'a token',
        { continue: '!!!' },
        '400 BadRequest: invalid continue token: continue key is not valid: illegal base64 data at input byte 0',
      ],
      [
        'a token outside of the scope',
        { continue: encodeContinue('/pods/ns/../../secrets/a', '/pods/', 8) },
        '400 BadRequest: invalid continue token: continue key is not valid: ns/../../secrets/a',
      ],
      [
        'a token combined with a version',
        { continue: encodeContinue('/pods/ns/a', '/pods/', 8), resourceVersion: '5' },
        '400 BadRequest: specifying resource version is not allowed when using continue',
      ],
    ];
    it.each(bad)('rejects %s', async (_name, options, status) => {
      expect(await statusOf(() => list(cacher, options))).toBe(status);
    });

    it('returns results that later writes do not change', async () => {
      const result = await list(cacher);
      await put(storage, '/pods/ns/a');
      await remove(storage, '/pods/ns/d');
      await turn();
      expect(show(result)).toBe(present);
    });

    // Upstream: TestMarkConsistent.
    it('reads past states from the storage while the cache is known to be inconsistent', async () => {
      cacher.markConsistent(false);
      storage.calls.list = 0;
      expect(show(await list(cacher, { resourceVersion: '5', resourceVersionMatch: 'Exact' }))).toBe('b:4 a:3 c:5 early:2');
      expect(storage.calls.list).toBe(1);
      cacher.markConsistent(true);
      await list(cacher, { resourceVersion: '5', resourceVersionMatch: 'Exact' });
      expect(storage.calls.list).toBe(1);
    });

    // Upstream: TestConsistencyCheckerDigest.
    it('finds the cache consistent with the storage', async () => {
      const { revision, cacheDigest, storageDigest } = await cacher.checkConsistency();
      expect(revision).toBe(8);
      expect(cacheDigest).toBe(storageDigest);
    });

    // Upstream: RunTestStats.
    it('reports the number of objects and their average size', async () => {
      const sizes = objectsOf(await list(cacher)).map((object) => object.bytes.length);
      expect(cacher.stats()).toEqual({ objectCount: 4, estimatedAverageObjectSizeBytes: Math.round(sizes.reduce((a, b) => a + b) / 4) });
    });
  });

  // Upstream: TestCacheSnapshots.
  it('shows every state of the history exactly', async () => {
    const cacher = await start(storage);
    const states = new Map<Revision, string>();
    for (let i = 0; i < 300; i++) {
      const key = `/pods/ns/${(i * 7) % 23}`;
      const revision = i % 5 === 4 && (await storage.get(key)) ? await remove(storage, key) : await put(storage, key);
      states.set(revision, (await storage.list('/pods/')).records.map((record) => `${record.key.slice(9)}:${record.revision}`).join(' '));
    }
    await turn();
    storage.calls.list = 0;
    for (const [revision, state] of [...states].filter((_entry, i) => i % 3 === 0)) {
      expect(show(await list(cacher, { resourceVersion: String(revision), resourceVersionMatch: 'Exact' }))).toBe(state);
    }
    expect(storage.calls.list).toBe(0);
  });

  // Upstream: TestTransformationFailure.
  it('returns the readable objects when another object is unreadable', async () => {
    const decode: CacherOptions['decode'] = ({ value }) => {
      if (value.includes('"secret"')) throw new Error('no key for it');
      return value;
    };
    const cacher = await start(storage, { decode });
    await put(storage, '/pods/ns/good');
    const revision = await put(storage, '/pods/ns/secret');
    await turn();
    const failure = '500 InternalError: Internal error occurred: unable to transform key "/registry/pods/ns/secret": no key for it';
    expect(await statusOf(() => cacher.get('/pods/ns/secret'))).toBe(failure);
    expect(await statusOf(() => cacher.get('/pods/ns/secret', '0'))).toBe(failure);
    expect(await statusOf(() => list(cacher))).toBe(failure);
    expect(await statusOf(() => list(cacher, { scope: '/pods/ns/secret' }))).toBe(failure);
    expect(await statusOf(() => list(cacher, { predicate: label('l', 'x') }))).toBe(failure);
    expect((await cacher.get('/pods/ns/good'))?.key).toBe('/pods/ns/good');
    await storage.delete('/pods/ns/secret', revision);
    await turn();
    expect(show(await list(cacher))).toBe('good:2');
  });

  it('separates resources whose paths share a prefix', async () => {
    const pods = await start(storage);
    const others = await start(storage, { prefix: '/pods.apps/' });
    const nested = await start(storage, { prefix: '/example.com/pods/' });
    await put(storage, '/pods/ns/a');
    await put(storage, '/pods.apps/ns/b');
    await storage.create('/example.com/pods/ns/c', pod('/pods/ns/c'));
    await storage.create('/example.com/podsx/ns/d', pod('/pods/ns/d'));
    await turn();
    expect([
      show(await list(pods)),
      show(await list(others, { scope: '/pods.apps/' })),
      show(await list(nested, { scope: '/example.com/pods/' })),
    ]).toEqual(['a:2', 'b:3', 'c:4']);
  });

  // Upstream: TestCacherDontAcceptRequestsStopped.
  it('rejects requests after it was closed', async () => {
    const cacher = await start(storage, { clock });
    const sink = new RecordingSink();
    cacher.watch({ scope: '/pods/', resourceVersion: '0' }, sink);
    await turn();
    cacher.close();
    expect(sink.ended).toBe('closed');
    expect(cacher.ready).toBe(false);
    await expect(cacher.whenReady()).rejects.toThrow('apiserver cacher is stopped');
    expect(await statusOf(() => cacher.list({ scope: '/pods/' }))).toBe('429 TooManyRequests: apiserver cacher is stopped');
    expect(await statusOf(() => cacher.watch({ scope: '/pods/' }, new RecordingSink()))).toBe(
      '429 TooManyRequests: apiserver cacher is stopped',
    );
  });
});

describe('a cache that is not ready', () => {
  const failing = (): { storage: FakeStorage; clock: FakeClock; cacher: Cacher } => {
    const storage = newStorage(true);
    storage.listError = new Error('storage is away');
    const clock = new FakeClock();
    const cacher = newCacher(storage, { clock });
    cachers.push(cacher);
    return { storage, clock, cacher };
  };

  // Upstream: TestTooManyRequestsNotReturned, TestGetCacheBypass, TestWatchCacheBypass, TestWatchNotHangingOnStartupFailure.
  it('reads from the storage where possible and fails with 429 otherwise', async () => {
    const { storage, clock, cacher } = failing();
    await clock.advance(10);
    const revision = await put(storage, '/pods/ns/a');
    expect(cacher.ready).toBe(false);
    expect((await cacher.get('/pods/ns/a'))?.revision).toBe(revision);
    expect((await cacher.get('/pods/ns/a', '0'))?.revision).toBe(revision);
    const initializing = '429 TooManyRequests: storage is (re)initializing: storage is away';
    expect(await statusOf(() => cacher.list({ scope: '/pods/' }))).toBe(initializing);
    expect(await statusOf(() => cacher.list({ scope: '/pods/', limit: 1, predicate: label('l', 'x') }))).toBe(initializing);
    expect(await statusOf(() => cacher.watch({ scope: '/pods/' }, new RecordingSink()))).toBe(initializing);
    storage.listError = undefined;
    expect(show(await cacher.list({ scope: '/pods/', limit: 1 }))).toBe('a:2');
  });

  it('retries every second', async () => {
    const { storage, clock, cacher } = failing();
    await clock.advance(3_500);
    expect(storage.calls.list).toBe(4);
    await put(storage, '/pods/ns/a');
    storage.listError = undefined;
    await clock.advance(1_000);
    expect(cacher.ready).toBe(true);
    expect(show(await cacher.list({ scope: '/pods/' }))).toBe('a:2');
  });

  // Upstream: TestRetryAfterForUnreadyCache, TestCalculateRetryAfterForUnreadyCache.
  it.each([
    [0, 1],
    [5, 1],
    [20, 3],
    [40, 11],
    [90, 30],
  ])('after %d s asks clients to wait for %d s', async (seconds, retryAfterSeconds) => {
    const { clock, cacher } = failing();
    await clock.advance(seconds * 1_000);
    const error = await Promise.resolve()
      .then(() => cacher.list({ scope: '/pods/' }))
      .catch((reason: unknown) => reason);
    expect((error as StatusError).status.details?.retryAfterSeconds).toBe(retryAfterSeconds);
  });

  it('pages through the storage with a selector like upstream, with growing pages', async () => {
    const storage = newStorage(true);
    for (let i = 0; i < 40; i++) await put(storage, `/pods/ns/${String(i).padStart(2, '0')}`, i === 37 ? { labels: { rare: 'yes' } } : {});
    const cacher = await start(storage);
    await storage.compact(1);
    cacher.markConsistent(false);
    storage.calls.list = 0;
    const result = await cacher.list({
      scope: '/pods/',
      resourceVersion: '41',
      resourceVersionMatch: 'Exact',
      limit: 1,
      predicate: label('rare', 'yes'),
    });
    expect(show(result)).toBe('37:39');
    expect(storage.calls.list).toBe(6);
    expect(result.continueToken).not.toBe('');
  });
});

describe('a cache fed by a watch', () => {
  // Upstream: TestConsistentReadFallback.
  it('reads from the storage when the cache does not catch up in time', async () => {
    const storage = newStorage(false);
    const clock = new FakeClock();
    const cacher = await start(storage, { clock });
    storage.holdAfter = await storage.currentRevision();
    const revision = await put(storage, '/pods/ns/a');
    storage.calls.list = 0;
    const result = Promise.resolve(cacher.list({ scope: '/pods/' }));
    await clock.advance(3_100);
    expect(show(await result)).toBe(`a:${revision}`);
    expect((await result).revision).toBe(revision);
    expect(storage.calls.list).toBe(1);
    expect(storage.calls.requestProgress).toBeGreaterThan(20);
    expect(show(await cacher.list({ scope: '/pods/', resourceVersion: '0' }))).toBe('');
    expect((await cacher.get('/pods/ns/a'))?.revision).toBe(revision);
    expect(await cacher.get('/pods/ns/a', '0')).toBeUndefined();
  });

  it('waits until it has caught up', async () => {
    const storage = newStorage(false);
    const clock = new FakeClock();
    const cacher = await start(storage, { clock });
    storage.holdAfter = await storage.currentRevision();
    const revision = await put(storage, '/pods/ns/a');
    storage.calls.list = 0;
    const result = Promise.resolve(cacher.list({ scope: '/pods/' }));
    await clock.advance(1_000);
    storage.holdAfter = Infinity;
    storage.wake();
    expect(show(await result)).toBe(`a:${revision}`);
    expect(storage.calls.list).toBe(0);
  });

  // Upstream: TestCacherDontMissEventsOnReinitialization.
  it('lists again after lost events, ends its watches, and misses nothing', async () => {
    const storage = newStorage(false);
    const clock = new FakeClock();
    const cacher = await start(storage, { clock });
    await put(storage, '/pods/ns/a');
    await turn();
    const sink = new RecordingSink();
    cacher.watch({ scope: '/pods/', resourceVersion: '2' }, sink);
    await turn();
    storage.holdAfter = await storage.currentRevision();
    await put(storage, '/pods/ns/b');
    const last = await remove(storage, '/pods/ns/a');
    await storage.compact(last);
    storage.holdAfter = Infinity;
    storage.wake();
    await clock.advance(3_000);
    expect(cacher.ready).toBe(true);
    expect(sink.log).toEqual(['ERROR 410 Expired: too old resource version: 1 (1)']);
    expect(sink.ended).toBe('error');
    expect(show(await cacher.list({ scope: '/pods/' }))).toBe('b:3');
    await put(storage, '/pods/ns/c');
    await turn();
    expect(show(await cacher.list({ scope: '/pods/', resourceVersion: '0' }))).toBe('b:3 c:5');
  });

  it('does not serve its old objects at the revision that it is about to list', async () => {
    const storage = newStorage(false);
    const clock = new FakeClock();
    const cacher = await start(storage, { clock });
    const before = await put(storage, '/pods/ns/a');
    await turn();
    storage.holdAfter = before;
    const last = await put(storage, '/pods/ns/a');
    const resourceVersion = String(last);
    const waiting = [
      cacher.list({ scope: '/pods/' }),
      cacher.list({ scope: '/pods/', resourceVersion, limit: 1, resourceVersionMatch: 'NotOlderThan' }),
      cacher.list({ scope: '/pods/', resourceVersion, limit: 1, resourceVersionMatch: 'Exact' }),
    ].map(async (each) => {
      const answer = await each;
      return `${show(answer)} at ${answer.revision}`;
    });
    const refused = statusOf(() => cacher.list({ scope: '/pods/', resourceVersion, resourceVersionMatch: 'NotOlderThan' }));
    const got = Promise.resolve(cacher.get('/pods/ns/a', resourceVersion));
    await turn();
    const stored = storage.list.bind(storage);
    storage.list = async (prefix, options) => {
      await turn();
      return stored(prefix, options);
    };
    await storage.compact(last);
    storage.holdAfter = Infinity;
    storage.wake();
    expect(await Promise.all(waiting)).toEqual(Array(3).fill(`a:${last} at ${last}`));
    expect(await refused).toBe('429 TooManyRequests: storage is (re)initializing');
    expect((await got)?.revision).toBe(last);
  });

  it('resumes at its revision when the watch breaks', async () => {
    const storage = newStorage(false);
    const clock = new FakeClock();
    const watch = storage.watch;
    let calls = 0;
    storage.watch = (prefix, from, signal) => (calls++ < 2 ? failingWatch() : watch.call(storage, prefix, from, signal));
    const cacher = await start(storage, { clock });
    await put(storage, '/pods/ns/a');
    expect(show(await cacher.list({ scope: '/pods/', resourceVersion: '0' }))).toBe('');
    await clock.advance(2_100);
    expect(calls).toBe(3);
    expect(storage.calls.list).toBe(1);
    expect(show(await cacher.list({ scope: '/pods/', resourceVersion: '0' }))).toBe('a:2');
  });

  it('shares one watch among all resources', async () => {
    const storage = newStorage(false);
    const all = await Promise.all(['/pods/', '/secrets/', '/nodes/'].map((prefix) => start(storage, { prefix })));
    await turn();
    expect(storage.calls.watch).toBe(1);
    for (const cacher of all) cacher.close();
    await turn();
    await start(storage);
    await turn();
    expect(storage.calls.watch).toBe(2);
  });
});

it('compares the cache with the storage periodically', async () => {
  const storage = newStorage(true);
  const clock = new FakeClock();
  const messages: string[] = [];
  const cacher = await start(storage, {
    clock,
    onConsistencyCheck: (status, message) => void messages.push(`${status} ${message}`.trim()),
    resource: { group: '', resource: 'pods' },
  });
  await put(storage, '/pods/ns/a');
  await clock.advance(300_100);
  expect(messages).toEqual(['success']);
  // A write without an event, which simulates a bug.
  storage.events.push({ ...storage.events[0]!, key: '/pods/ns/b', record: { ...storage.events[0]!.record!, key: '/pods/ns/b' } });
  await clock.advance(300_100);
  expect(messages.slice(1)).toEqual(['failure the cache of pods differs from the storage at revision 2']);
  expect((await cacher.checkConsistency()).cacheDigest).not.toBe((await cacher.checkConsistency()).storageDigest);
});

it('leaves no timer and no subscription behind', async () => {
  const storage = newStorage(true);
  const clock = new FakeClock();
  const cacher = await start(storage, { clock });
  cacher.watch({ scope: '/pods/', allowBookmarks: true }, new RecordingSink());
  await cacher.list({ scope: '/pods/', limit: 1 });
  expect(clock.timers).toBeGreaterThan(0);
  cacher.close();
  expect(clock.timers).toBe(0);
  await put(storage, '/pods/ns/a');
});

it("has a history of upstream's size", () => {
  expect(maxHistory).toBe(100 * 1024);
});

// biome-ignore lint/correctness/useYield: it fails before there is anything to yield
async function* failingWatch(): AsyncGenerator<never> {
  throw new Error('the connection broke');
}
