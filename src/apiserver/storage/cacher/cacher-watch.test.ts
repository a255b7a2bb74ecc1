import { Buffer } from 'node:buffer';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Steps } from '#apimachinery/runtime/steps';
import { type FakeStorage, FakeStorageWithFeed } from '../fake-storage.ts';
import type { CachedObject } from './cached-object.ts';
import type { Cacher, CacherOptions, CacheWatchOptions } from './cacher.ts';
import type { Predicate } from './predicate.ts';
import { label, named, newCacher, objectsOf, onNode, pod, put, remove, RecordingSink } from './test-fixture.ts';
import { FakeClock, turn } from '#apiserver/base/fake-clock';
import type { ObjectEvent } from './watch-event.ts';
import type { WatchHandle } from './watcher.ts';

let storage: FakeStorage;
let clock: FakeClock;
const cachers: Cacher[] = [];
beforeEach(() => {
  storage = new FakeStorageWithFeed();
  clock = new FakeClock();
});
afterEach(async () => {
  for (const cacher of cachers.splice(0)) cacher.close();
  await storage.close();
});

async function start(options: Partial<CacherOptions> = {}): Promise<Cacher> {
  const cacher = newCacher(storage, { clock, ...options });
  cachers.push(cacher);
  await cacher.whenReady();
  return cacher;
}

async function watch(cacher: Cacher, options: Partial<CacheWatchOptions> = {}): Promise<RecordingSink & { handle: WatchHandle }> {
  const sink = new RecordingSink() as RecordingSink & { handle: WatchHandle };
  sink.handle = cacher.watch({ scope: '/pods/', ...options }, sink);
  await turn();
  return sink;
}

describe('start of a watch', () => {
  // Revisions: a 2, b 3, the cache, a 4, c 5, the deletion of b 6.
  let cacher: Cacher;
  beforeEach(async () => {
    await put(storage, '/pods/ns/a');
    await put(storage, '/pods/ns/b');
    cacher = await start();
    await put(storage, '/pods/ns/a');
    await put(storage, '/pods/ns/c');
    await remove(storage, '/pods/ns/b');
  });
  const initial = ['ADDED a 4', 'ADDED c 5'];
  const tooOld = (revision: number): string => `ERROR 410 Expired: too old resource version: ${revision} (3)`;

  // Upstream: RunWatchSemantics, RunSendInitialEventsBackwardCompatibility, TestEmptyWatchEventCache, TestStartingResourceVersion.
  const table: readonly { readonly name: string; readonly options: Partial<CacheWatchOptions>; readonly log: readonly string[] }[] = [
    { name: 'unset', options: {}, log: initial },
    { name: '0', options: { resourceVersion: '0' }, log: initial },
    { name: 'unset, bookmarks', options: { allowBookmarks: true }, log: initial },
    { name: 'N', options: { resourceVersion: '4' }, log: ['ADDED c 5', 'DELETED b 6'] },
    { name: 'the revision of the initial list', options: { resourceVersion: '3' }, log: ['MODIFIED a 4', 'ADDED c 5', 'DELETED b 6'] },
    { name: 'before the initial list', options: { resourceVersion: '2' }, log: [tooOld(2)] },
    { name: 'the newest revision', options: { resourceVersion: '6' }, log: [] },
    { name: 'a future revision', options: { resourceVersion: '100' }, log: [] },
    { name: 'unset, initial events', options: { sendInitialEvents: true }, log: initial },
    {
      name: 'unset, initial events, bookmarks',
      options: { sendInitialEvents: true, allowBookmarks: true },
      log: [...initial, 'BOOKMARK 6 end'],
    },
    {
      name: '0, initial events, bookmarks',
      options: { resourceVersion: '0', sendInitialEvents: true, allowBookmarks: true },
      log: [...initial, 'BOOKMARK 6 end'],
    },
    {
      name: 'N, initial events, bookmarks',
      options: { resourceVersion: '4', sendInitialEvents: true, allowBookmarks: true },
      log: [...initial, 'BOOKMARK 6 end'],
    },
    { name: 'old, initial events', options: { resourceVersion: '1', sendInitialEvents: true }, log: initial },
    { name: 'unset, no initial events', options: { sendInitialEvents: false, allowBookmarks: true }, log: [] },
    { name: '0, no initial events', options: { resourceVersion: '0', sendInitialEvents: false }, log: [] },
    { name: 'N, no initial events', options: { resourceVersion: '4', sendInitialEvents: false }, log: ['ADDED c 5', 'DELETED b 6'] },
    { name: 'old, no initial events', options: { resourceVersion: '1', sendInitialEvents: false }, log: [tooOld(1)] },
    {
      name: 'initial events of an empty scope',
      options: { scope: '/pods/none/', sendInitialEvents: true, allowBookmarks: true },
      log: ['BOOKMARK 6 end'],
    },
    {
      name: 'initial events for a label',
      options: { sendInitialEvents: true, allowBookmarks: true, predicate: label('l', 'x') },
      log: ['BOOKMARK 6 end'],
    },
    { name: 'one key', options: { scope: '/pods/ns/a' }, log: ['ADDED a 4'] },
    { name: 'one key, N', options: { scope: '/pods/ns/b', resourceVersion: '3' }, log: ['DELETED b 6'] },
  ];
  it.each(table)('$name', async ({ options, log }) => {
    const sink = await watch(cacher, options);
    const isError = log[0]?.startsWith('ERROR') ?? false;
    expect(sink.take()).toEqual(log);
    expect(sink.ended).toBe(isError ? 'error' : undefined);
    await put(storage, '/pods/ns/a');
    await turn();
    const seesIt =
      !isError &&
      options.resourceVersion !== '100' &&
      options.scope !== '/pods/none/' &&
      options.scope !== '/pods/ns/b' &&
      !options.predicate;
    expect(sink.take()).toEqual(seesIt ? ['MODIFIED a 7'] : []);
  });

  it('sends nothing up to a future revision', async () => {
    const sink = await watch(cacher, { resourceVersion: '8' });
    for (const name of ['x', 'y', 'z']) await put(storage, `/pods/ns/${name}`);
    expect(sink.log).toEqual(['ADDED z 9']);
  });

  // Upstream: TestWaitUntilWatchCacheFreshAndForceAllEvents.
  it('waits for the requested revision before it sends initial events', async () => {
    const sink = await watch(cacher, { resourceVersion: '7', sendInitialEvents: true, allowBookmarks: true });
    expect(sink.log).toEqual([]);
    await put(storage, '/pods/ns/d');
    await turn();
    expect(sink.log).toEqual([...initial, 'ADDED d 7', 'BOOKMARK 7 end']);
  });

  it('ends with an error if the requested revision never arrives', async () => {
    const sink = await watch(cacher, { resourceVersion: '70', sendInitialEvents: true, allowBookmarks: true });
    await clock.advance(3_100);
    expect(sink.log).toEqual(['ERROR 504 Timeout: Timeout: Too large resource version: 70, current: 6']);
    expect(sink.ended).toBe('error');
  });

  it('sends nothing after it was closed while waiting', async () => {
    const sink = await watch(cacher, { resourceVersion: '70', sendInitialEvents: true });
    sink.handle.close();
    await clock.advance(3_100);
    expect(sink.log).toEqual([]);
    expect(sink.ended).toBeUndefined();
  });
});

describe('events of a watch', () => {
  let cacher: Cacher;
  beforeEach(async () => {
    cacher = await start();
  });

  // Upstream: TestCacheWatcherHandlesFiltering, RunTestWatch.
  it('for a label selector, sends ADDED and DELETED when objects begin and cease to match', async () => {
    const sink = await watch(cacher, { resourceVersion: '1', predicate: label('l', 'yes') });
    for (const l of ['no', 'yes', 'yes', 'no', 'no', 'yes']) await put(storage, '/pods/ns/a', { labels: { l } });
    await remove(storage, '/pods/ns/a');
    await put(storage, '/pods/ns/a', { labels: { l: 'no' } });
    await remove(storage, '/pods/ns/a');
    expect(sink.log).toEqual(['ADDED a 3', 'MODIFIED a 4', 'DELETED a 5', 'ADDED a 7', 'DELETED a 8']);
    const left = sink.events[2]!;
    if (left.type !== 'DELETED') throw new Error('not a deletion');
    expect(left.object.labelsOf(['l'])['l']).toBe('yes');
  });

  // Upstream: RunTestClusterScopedWatch, RunTestNamespaceScopedWatch.
  const scopes: readonly (readonly [name: string, options: Partial<CacheWatchOptions>, names: readonly string[]])[] = [
    ['everything', {}, ['a', 'b', 'a', 'b']],
    ['a namespace', { scope: '/pods/ns1/' }, ['a', 'b']],
    ['a prefix of a namespace', { scope: '/pods/ns/' }, []],
    ['one key', { scope: '/pods/ns1/a' }, ['a']],
    ['a name in all namespaces', { predicate: named('a') }, ['a', 'a']],
    ['a name in one namespace', { scope: '/pods/ns2/', predicate: named('b') }, ['b']],
    ['one key and another name', { scope: '/pods/ns1/a', predicate: named('b') }, []],
    ['a node', { predicate: onNode('n1') }, ['a', 'a']],
    ['a node name in a namespace', { scope: '/pods/ns2/', predicate: onNode('n2') }, ['b']],
    ['a label', { predicate: label('l', 'b') }, ['b', 'b']],
  ];
  it.each(scopes)('selects %s', async (_name, options, names) => {
    const [live, late] = [await watch(cacher, { resourceVersion: '1', ...options }), new RecordingSink()];
    for (const namespace of ['ns1', 'ns2']) {
      await put(storage, `/pods/${namespace}/a`, { nodeName: 'n1', labels: { l: 'a' } });
      await put(storage, `/pods/${namespace}/b`, { nodeName: 'n2', labels: { l: 'b' } });
    }
    cacher.watch({ scope: '/pods/', resourceVersion: '1', ...options }, late);
    await turn();
    expect(live.log.map((line) => line.split(' ')[1])).toEqual(names);
    expect(late.log).toEqual(live.log);
    const initial = await watch(cacher, options);
    expect(initial.log.map((line) => line.split(' ')[1])).toEqual(names);
  });

  it('by node name, sends the events of a pod that moves', async () => {
    const [from, to, other] = [
      await watch(cacher, { predicate: onNode('n1') }),
      await watch(cacher, { predicate: onNode('n2') }),
      await watch(cacher, { predicate: onNode('n3') }),
    ];
    await put(storage, '/pods/ns/a', { nodeName: 'n1' });
    await put(storage, '/pods/ns/a', { nodeName: 'n2' });
    expect([from.log, to.log, other.log]).toEqual([['ADDED a 2', 'DELETED a 3'], ['ADDED a 3'], []]);
  });

  it.each([
    ['a node', onNode, (i: number) => ({ nodeName: `x${i}` })],
    ['a name', named, () => ({ nodeName: 'n' })],
  ])('by %s does not evaluate objects selected by other watches of that field', async (_name, select, fields) => {
    let looks = 0;
    const counted = (value: string): Predicate => {
      const predicate = select(value);
      const matches = (object: CachedObject): boolean => {
        looks++;
        return predicate.matches(object);
      };
      return { ...predicate, matches };
    };
    const sinks = [];
    for (let i = 0; i < 300; i++) sinks.push(await watch(cacher, { predicate: counted(`x${i}`) }));
    looks = 0;
    await put(storage, '/pods/ns/x7', fields(7));
    expect(sinks.map(({ log }) => log.length).join('')).toBe(sinks.map((_sink, i) => (i === 7 ? 1 : 0)).join(''));
    expect(looks).toBeLessThan(4);
  });

  // Upstream: RunTestWatchDeleteEventObjectHaveLatestRV, TestCachingDeleteEvents.
  it('sends a deleted object at the revision of the deletion, the same object to all watchers', async () => {
    const sinks = [await watch(cacher), await watch(cacher), await watch(cacher, { predicate: label('l', 'x') })];
    await put(storage, '/pods/ns/a', { labels: { l: 'x' } });
    await remove(storage, '/pods/ns/a');
    const events = sinks.map((sink) => sink.events[1]!);
    expect(sinks[0]!.log[1]).toBe('DELETED a 3');
    expect(events[1]).toBe(events[0]);
    expect(events[2]).toBe(events[0]);
    expect((await storage.get('/pods/ns/a', { revision: 2 }))!.value.toString()).toContain('"resourceVersion":"2"');
  });

  // Upstream: TestCachingObjects.
  it('encodes an event once for all watchers of a variant', async () => {
    const sinks = await Promise.all(Array.from({ length: 10 }, (_, i) => watch(cacher, i % 2 ? { predicate: label('l', 'x') } : {})));
    await put(storage, '/pods/ns/a', { labels: { l: 'x' } });
    let made = 0;
    const frames = sinks.map((sink, i) =>
      sink.events[0]!.frame(i < 5 ? 'json' : 'protobuf', (event) => {
        made++;
        return Buffer.from(event.type);
      }),
    );
    expect(made).toBe(2);
    expect(new Set(frames).size).toBe(2);
  });

  // Upstream: RunTestWatchError, RunTestWatchErrorIsBlockingFurtherEvents, RunTestWatchWithUnsafeDelete.
  it.each(['appears', 'is deleted', 'is there first'])('ends with an error when an unreadable object %s', async (when) => {
    const other = new FakeStorageWithFeed();
    const broken = newCacher(other, {
      clock,
      decode: ({ value }) => {
        if (value.includes('"bad"')) throw new Error('no key for it');
        return value;
      },
    });
    cachers.push(broken);
    await put(other, '/pods/ns/good');
    if (when !== 'appears') await put(other, '/pods/ns/bad');
    await broken.whenReady();
    const sinks = [await watch(broken, when === 'is there first' ? {} : { resourceVersion: String(await other.currentRevision()) })];
    const elsewhere = await watch(broken, { scope: '/pods/other/', resourceVersion: '3' });
    if (when === 'appears') await put(other, '/pods/ns/bad');
    if (when === 'is deleted') await remove(other, '/pods/ns/bad');
    await put(other, '/pods/ns/good');
    await turn();
    for (const sink of sinks) {
      expect(sink.log.at(-1)).toBe(
        'ERROR 500 InternalError: Internal error occurred: unable to transform key "/registry/pods/ns/bad": no key for it',
      );
      expect(sink.ended).toBe('error');
    }
    expect(elsewhere.ended).toBeUndefined();
    await other.close();
  });

  // Upstream: TestWatcherNotGoingBackInTime.
  it('sends events in order without gaps during concurrent writes', async () => {
    const all = await watch(cacher, { resourceVersion: '1' });
    const late: RecordingSink[] = [];
    for (let i = 0; i < 300; i++) {
      await put(storage, `/pods/ns/${i % 17}`);
      if (i % 20 === 0) late.push(await watch(cacher, i % 40 === 0 ? { resourceVersion: String(i + 2) } : {}));
    }
    const versions = (sink: RecordingSink): number[] => sink.log.map((line) => Number(line.split(' ')[2]));
    expect(versions(all)).toEqual(Array.from({ length: 300 }, (_, i) => i + 2));
    late.forEach((sink, i) => {
      const start = i * 20 + 2;
      const live = versions(sink).filter((version) => version > start);
      expect(live).toEqual(Array.from({ length: 301 - start }, (_, n) => start + 1 + n));
      expect(sink.log.length - live.length).toBe(i % 2 === 0 ? 0 : Math.min(17, start - 1));
    });
  });

  // Upstream: TestCacherNoLeakWithMultipleWatchers, TestForgetWatcher, TestCacheWatcherStoppedInAnotherGoroutine.
  it('releases all resources when the client disconnects at any time', async () => {
    for (let i = 0; i < 200; i++) {
      const sink = new RecordingSink();
      const handle = cacher.watch(
        {
          scope: i % 2 ? '/pods/' : `/pods/ns${i}/`,
          allowBookmarks: true,
          predicate: [label('l', 'x'), named(`n${i}`), onNode(`n${i}`)][i % 3]!,
        },
        sink,
      );
      if (i % 4 === 0) await turn();
      if (i % 5 === 0) await put(storage, '/pods/ns/a', { labels: { l: 'x' } });
      handle.close();
      handle.close();
      handle.drained();
      const before = sink.log.length;
      await put(storage, '/pods/ns/a', { labels: { l: 'x' } });
      expect(sink.log).toHaveLength(before);
      expect(sink.ended).toBeUndefined();
    }
    await clock.advance(1_100);
    // The remaining timer belongs to the cache itself.
    expect(clock.timers).toBe(1);
  });

  // Upstream: TestDispatchingBookmarkEventsWithConcurrentStop.
  it('can be closed by the sink during a send', async () => {
    const closing = new RecordingSink();
    const handle = cacher.watch({ scope: '/pods/', resourceVersion: '1' }, closing);
    const send = closing.send.bind(closing);
    closing.send = (event) => {
      send(event);
      handle.close();
    };
    const other = await watch(cacher, { resourceVersion: '1' });
    await put(storage, '/pods/ns/a');
    await put(storage, '/pods/ns/b');
    expect(closing.log).toEqual(['ADDED a 2']);
    expect(other.log).toEqual(['ADDED a 2', 'ADDED b 3']);
  });
});

describe('bookmarks', () => {
  // Upstream: TestCacherSendBookmarkEvents, TestCacherSendsMultipleWatchBookmarks, TestBookmarksOnResourceVersionUpdates.
  it('are sent every minute on request, with the newest revision of all resources', async () => {
    const cacher = await start();
    const [asked, silent, selected] = [
      await watch(cacher, { allowBookmarks: true }),
      await watch(cacher),
      await watch(cacher, { allowBookmarks: true, predicate: label('none', 'such') }),
    ];
    await put(storage, '/secrets/ns/x');
    await clock.advance(59_000);
    expect(asked.log).toEqual([]);
    await clock.advance(2_000);
    expect([asked.take(), silent.take(), selected.take()]).toEqual([['BOOKMARK 2'], [], ['BOOKMARK 2']]);
    await put(storage, '/pods/ns/a');
    await clock.advance(61_000);
    expect([asked.take(), silent.take(), selected.take()]).toEqual([['ADDED a 3', 'BOOKMARK 3'], ['ADDED a 3'], ['BOOKMARK 3']]);
  });

  it('come two seconds before the deadline', async () => {
    const cacher = await start();
    const short = await watch(cacher, { allowBookmarks: true, deadline: clock.now() + 6_000 });
    const long = await watch(cacher, { allowBookmarks: true, deadline: clock.now() + 90_000 });
    const none = await watch(cacher, { allowBookmarks: true, deadline: clock.now() + 1_000 });
    await clock.advance(3_900);
    expect(short.log).toEqual([]);
    await clock.advance(1_100);
    expect(short.take()).toEqual(['BOOKMARK 1']);
    await clock.advance(84_900);
    expect([short.log, none.log]).toEqual([[], []]);
    expect(long.log).toEqual(['BOOKMARK 1', 'BOOKMARK 1']);
  });

  it('are sent slightly early at random, so that they do not coincide', async () => {
    const cacher = await start({ random: () => 1 });
    const sink = await watch(cacher, { allowBookmarks: true });
    await clock.advance(55_000);
    expect(sink.log).toEqual(['BOOKMARK 1']);
  });

  // Upstream: RunTestWatchBookmarksWithCorrectResourceVersion.
  it('are never ahead of unsent events', async () => {
    const cacher = await start();
    const sink = await watch(cacher, { allowBookmarks: true });
    sink.buffered = 1e9;
    await put(storage, '/pods/ns/a');
    sink.take();
    await put(storage, '/pods/ns/b');
    for (let i = 0; i < 4; i++) {
      await clock.advance(20_000);
      sink.buffered = 0;
      sink.handle.drained();
      sink.buffered = 1e9;
      await put(storage, `/pods/ns/c${i}`);
    }
    sink.buffered = 0;
    sink.handle.drained();
    await clock.advance(61_000);
    let revision = 0;
    for (const line of sink.log) {
      const [type, name, version] = line.split(' ');
      const at = Number(type === 'BOOKMARK' ? name : version);
      expect(at).toBeGreaterThanOrEqual(revision);
      revision = at;
    }
    expect(sink.log.filter((line) => line.startsWith('ADDED'))).toHaveLength(5);
    expect(sink.log.at(-1)).toBe('BOOKMARK 7');
  });
});

describe('a slow client', () => {
  // Upstream: TestDispatchEventWillNotBeBlockedByTimedOutWatcher, RunTestWatcherTimeout, TestCacheWatcherDraining.
  it('receives all events in order at its own pace and blocks no other client', async () => {
    const cacher = await start();
    const slow = await watch(cacher, { resourceVersion: '1' });
    const quick = await watch(cacher, { resourceVersion: '1' });
    slow.bytesPerEvent = 30_000;
    for (let i = 0; i < 50; i++) await put(storage, `/pods/ns/${i}`);
    expect(quick.log).toHaveLength(50);
    expect(slow.log).toHaveLength(3);
    for (let i = 0; i < 40; i++) {
      slow.buffered = 0;
      slow.handle.drained();
      await turn();
    }
    expect(slow.log).toEqual(quick.log);
    slow.bytesPerEvent = 0;
    slow.buffered = 0;
    await put(storage, '/pods/ns/last');
    expect(slow.log.at(-1)).toBe('ADDED last 52');
  });

  it('receives initial objects of one state at its own pace, then the events since', async () => {
    for (let i = 10; i < 60; i++) await put(storage, `/pods/ns/${i}`);
    const cacher = await start();
    const sink = new RecordingSink();
    sink.bytesPerEvent = 20_000;
    const handle = cacher.watch({ scope: '/pods/', sendInitialEvents: true, allowBookmarks: true }, sink);
    await turn();
    expect(sink.log).toHaveLength(4);
    await put(storage, '/pods/ns/59');
    await remove(storage, '/pods/ns/58');
    await put(storage, '/pods/ns/new');
    while (sink.log.length < 54) {
      const before = sink.log.length;
      sink.buffered = 0;
      handle.drained();
      await turn();
      expect(sink.log.length).toBeGreaterThan(before);
    }
    expect(sink.log.slice(0, 50)).toEqual(Array.from({ length: 50 }, (_, i) => `ADDED ${i + 10} ${i + 2}`));
    expect(sink.log.slice(50)).toEqual(['BOOKMARK 51 end', 'MODIFIED 59 52', 'DELETED 58 53', 'ADDED new 54']);
  });

  it('is disconnected after it has taken nothing for half a minute', async () => {
    const cacher = await start();
    const [stuck, moving] = [await watch(cacher), await watch(cacher)];
    for (const sink of [stuck, moving]) sink.buffered = 100_000;
    await put(storage, '/pods/ns/a');
    await put(storage, '/pods/ns/b');
    await clock.advance(20_000);
    moving.buffered = 0;
    moving.handle.drained();
    moving.buffered = 100_000;
    await put(storage, '/pods/ns/c');
    await clock.advance(12_000);
    expect([stuck.ended, moving.ended]).toEqual(['slow', undefined]);
    expect(stuck.log).toEqual(['ADDED a 2']);
    expect(moving.log).toEqual(['ADDED a 2', 'ADDED b 3', 'ADDED c 4']);
  });

  it('continues if its sink does not report that it has drained', async () => {
    const cacher = await start();
    const sink = await watch(cacher);
    sink.buffered = 100_000;
    await put(storage, '/pods/ns/a');
    await put(storage, '/pods/ns/b');
    sink.buffered = 0;
    await clock.advance(1_100);
    expect(sink.log).toEqual(['ADDED a 2', 'ADDED b 3']);
  });

  // Upstream: TestCacheIntervalInvalidationStopsWatch.
  it('gets 410 when the history no longer holds its position', async () => {
    const cacher = await start({ historyMs: 1_000 });
    const sink = await watch(cacher);
    sink.buffered = 100_000;
    await put(storage, '/pods/ns/a');
    for (let i = 0; i < 150; i++) {
      await put(storage, '/pods/ns/b');
      await clock.advance(100);
    }
    sink.buffered = 0;
    sink.handle.drained();
    expect(sink.log[0]).toBe('ADDED a 2');
    expect(sink.log.at(-1)).toMatch(/^ERROR 410 Expired: too old resource version: 2 \(\d+\)$/);
    expect(sink.ended).toBe('error');
  });

  it.each([
    {
      name: 'gets 410 for a start in old history that uses much memory',
      padding: 50_000,
      first: /^ERROR 410 Expired: too old resource version: 2/,
    },
    { name: 'can start in old history that uses little memory', padding: 50, first: /^MODIFIED a 3$/ },
  ])('$name', async ({ padding, first }) => {
    const cacher = await start();
    for (let i = 0; i < 200; i++) await put(storage, '/pods/ns/a', { padding });
    const fresh = await watch(cacher, { resourceVersion: '2' });
    expect(fresh.log[0]).toBe('MODIFIED a 3');
    await clock.advance(76_000 + 30_000);
    const late = await watch(cacher, { resourceVersion: '2' });
    expect(late.log[0]).toMatch(first);
    expect((await watch(cacher, { resourceVersion: '150' })).log[0]).toBe('MODIFIED a 151');
  });

  // Upstream: TestCacheIncreaseDoesNotBreakWatch.
  it('continues when the history grows', async () => {
    const cacher = await start();
    const sink = await watch(cacher);
    sink.buffered = 100_000;
    for (let i = 0; i < 500; i++) await put(storage, '/pods/ns/a');
    sink.buffered = 0;
    sink.handle.drained();
    await turn();
    expect(sink.log.map((line) => Number(line.split(' ')[2]))).toEqual(Array.from({ length: 500 }, (_, i) => i + 2));
  });

  it('yields to the event loop while it catches up with many events', async () => {
    for (let i = 0; i < 2_500; i++)
      storage.events.push({
        type: 'PUT',
        key: `/pods/ns/${i}`,
        revision: 1,
        previous: undefined,
        record: { key: `/pods/ns/${i}`, revision: 1, createRevision: 1, value: pod(`/pods/ns/${i}`)(1) },
      });
    const cacher = await start();
    expect(objectsOf(await cacher.list({ scope: '/pods/' }))).toHaveLength(2_500);
    const sink = new RecordingSink();
    cacher.watch({ scope: '/pods/' }, sink);
    await Promise.resolve();
    expect(sink.events).toHaveLength(1_000);
    await turn();
    expect(sink.events).toHaveLength(2_500);
  });
});

describe('large objects', () => {
  const large = { padding: 200_000 };

  /** A sink whose preparation the test resolves. */
  class PreparingSink extends RecordingSink {
    readonly asked: string[] = [];
    readonly #waiting: PromiseWithResolvers<void>[] = [];

    prepare(event: ObjectEvent): Promise<void> {
      const waiting = Promise.withResolvers<void>();
      this.asked.push(event.object.key);
      this.#waiting.push(waiting);
      return waiting.promise;
    }

    async done(error?: Error): Promise<void> {
      const waiting = this.#waiting.shift()!;
      if (error) waiting.reject(error);
      else waiting.resolve();
      await turn();
    }
  }

  async function prepared(options: Partial<CacheWatchOptions> = {}): Promise<PreparingSink & { handle: WatchHandle }> {
    const cacher = await start();
    const sink = new PreparingSink() as PreparingSink & { handle: WatchHandle };
    sink.handle = cacher.watch({ scope: '/pods/', ...options }, sink);
    await turn();
    return sink;
  }

  it('are prepared while later events wait', async () => {
    const sink = await prepared();
    await put(storage, '/pods/ns/a', large);
    await put(storage, '/pods/ns/b');
    await put(storage, '/pods/ns/a', large);
    await put(storage, '/pods/ns/b');
    expect(sink.log).toEqual([]);
    await sink.done();
    expect(sink.take()).toEqual(['ADDED a 2', 'ADDED b 3']);
    await sink.done();
    expect(sink.take()).toEqual(['MODIFIED a 4', 'MODIFIED b 5']);
    await put(storage, '/pods/ns/b');
    expect(sink.take()).toEqual(['MODIFIED b 6']);
    expect(sink.asked).toEqual(['/pods/ns/a', '/pods/ns/a']);
  });

  it('are prepared when they are initial objects, too', async () => {
    for (const key of ['a', 'b', 'c']) await put(storage, `/pods/ns/${key}`, key === 'b' ? large : {});
    const sink = await prepared({ sendInitialEvents: true, allowBookmarks: true });
    expect(sink.take()).toEqual(['ADDED a 2']);
    await put(storage, '/pods/ns/d');
    sink.handle.drained();
    expect(sink.take()).toEqual([]);
    await sink.done();
    expect(sink.take()).toEqual(['ADDED b 3', 'ADDED c 4', 'BOOKMARK 4 end', 'ADDED d 5']);
  });

  it('are exempt from the slow-client timeout while being prepared', async () => {
    const sink = await prepared();
    await put(storage, '/pods/ns/a', large);
    sink.buffered = 100_000;
    await clock.advance(90_000);
    expect(sink.ended).toBeUndefined();
    await sink.done();
    expect(sink.log).toEqual(['ADDED a 2']);
  });

  it('are not sent to a disconnected client', async () => {
    const sink = await prepared();
    await put(storage, '/pods/ns/a', large);
    sink.handle.close();
    await sink.done();
    expect(sink.log).toEqual([]);
  });

  it('end the watch if their preparation fails', async () => {
    const sink = await prepared();
    await put(storage, '/pods/ns/a', large);
    await sink.done(new Error('no form for it'));
    expect(sink.log).toEqual(['ERROR 500 InternalError: Internal error occurred: no form for it']);
    expect(sink.ended).toBe('error');
  });

  it('are prepared once for all watchers of a variant', async () => {
    const cacher = await start();
    let times = 0;
    const prepare = function* (): Steps<void> {
      times += 1;
      yield;
    };
    const sinks = Array.from({ length: 3 }, () => {
      const sink = Object.assign(new RecordingSink(), { prepare: (event: ObjectEvent) => event.prepared('table', prepare) });
      cacher.watch({ scope: '/pods/' }, sink);
      return sink;
    });
    await turn();
    await put(storage, '/pods/ns/a', large);
    await turn();
    expect(sinks.map(({ log }) => log)).toEqual([['ADDED a 2'], ['ADDED a 2'], ['ADDED a 2']]);
    expect(times).toBe(1);
  });
});
