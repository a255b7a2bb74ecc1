import { Buffer } from 'node:buffer';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { CompactedError, UnavailableError, UnknownOutcomeError } from '#apiserver/storage/errors';
import { issueServingCertificate } from '#testing/serving-certificate';
import { startProxy } from '../../../test/servers/proxy.ts';
import { etcd, type EtcdServer, noEtcd, startEtcd } from '../../../test/servers/etcd-server.ts';
import { reopenableStore, storageConformance } from '#sdk/testing/storage';
import type { EtcdStorage } from './etcd-storage.ts';
import { openEtcdStorage } from './open-etcd-storage.ts';

if (etcd === undefined) it('requires etcd', ({ skip }) => skip(noEtcd));
else {
  describe('etcd', () => {
    let server: EtcdServer;
    let stores = 0;
    beforeAll(async () => {
      server = await startEtcd();
    });
    afterAll(() => server[Symbol.asyncDispose]());

    storageConformance('etcd', async () => {
      const prefix = `/store${++stores}`;
      return reopenableStore(() => openEtcdStorage({ servers: [server.url], prefix, compactionIntervalMs: 0 }));
    });
  });

  it('fails over if the first server does not exist', async () => {
    await using server = await startEtcd();
    const storage = await openEtcdStorage({ servers: ['http://127.0.0.1:1', server.url] });
    const { revision } = await storage.create('/pods/a', () => Buffer.from('1'));
    expect(await storage.currentRevision()).toBe(revision);
    await storage.close();
  });

  describe('a server that becomes silent while another is available', { timeout: 30_000 }, () => {
    /** Enough time for a probe and its consequences, and less than any deadline. */
    const soonMs = 6_000;
    const world = async () => {
      const server = await startEtcd();
      const [first, second] = [await startProxy(server.port), await startProxy(server.port)];
      const servers = [first, second].map(({ port }) => `http://127.0.0.1:${port}`);
      const open = (): Promise<EtcdStorage> => openEtcdStorage({ servers, compactionIntervalMs: 0 });
      return {
        first,
        second,
        open,
        async [Symbol.asyncDispose]() {
          for (const one of [first, second, server]) await one[Symbol.asyncDispose]();
        },
      };
    };
    async function within<T>(work: Promise<T>): Promise<T> {
      const began = performance.now();
      const result = await work;
      expect(performance.now() - began).toBeLessThan(soonMs);
      return result;
    }

    it('has its reads retried on the other server and does not delay later ones', async () => {
      await using servers = await world();
      const storage = await servers.open();
      const { revision } = await storage.create('/pods/a', () => Buffer.from('1'));
      servers.first.hold();
      expect(await within(Promise.all([storage.currentRevision(), storage.get('/pods/a')]))).toMatchObject([revision, { revision }]);
      const began = performance.now();
      await storage.update('/pods/a', revision, () => Buffer.from('2'));
      expect(performance.now() - began).toBeLessThan(500);
      // Opens a new connection, because responses on the old one are lost.
      servers.first.heal();
      servers.second.hold();
      expect((await within(storage.get('/pods/a')))?.value.toString()).toBe('2');
      await storage.close();
    });

    it('leaves the outcome of its writes unknown, once', async () => {
      await using servers = await world();
      const storage = await servers.open();
      servers.first.hold();
      const write = storage.create('/pods/a', () => Buffer.from('1')).catch((error: unknown) => error);
      expect(await within(write)).toBeInstanceOf(UnknownOutcomeError);
      expect(await storage.get('/pods/a')).toBeUndefined();
      await storage.close();
    });

    it('ends its watches, which continue on the other server', async () => {
      await using servers = await world();
      const storage = await servers.open();
      const from = await storage.currentRevision();
      const ended = new AbortController();
      const seen: string[] = [];
      const watch = async (): Promise<void> => {
        for await (const { type, key } of storage.watch('/pods/', from, ended.signal)) if (type === 'PUT') seen.push(key);
      };
      const first = watch();
      await storage.create('/pods/a', () => Buffer.from('1'));
      await vi.waitFor(() => expect(seen).toEqual(['/pods/a']));
      // No call is pending except the watch.
      servers.first.hold();
      await within(expect(first).rejects.toThrow(/silent for 3 s/));
      const second = watch();
      await storage.create('/pods/b', () => Buffer.from('1'));
      await vi.waitFor(() => expect(seen).toEqual(['/pods/a', '/pods/a', '/pods/b']));
      ended.abort();
      await second;
      await storage.close();
    });

    it('does not delay the start', async () => {
      await using servers = await world();
      servers.first.hold();
      const storage = await within(servers.open());
      await storage.close();
    });

    it('does not include a slow server', async () => {
      await using servers = await world();
      const storage = await servers.open();
      servers.first.delayMs = 1_000;
      const { revision } = await storage.create('/pods/a', () => Buffer.from('1'));
      servers.second.cut();
      expect((await storage.get('/pods/a'))?.revision).toBe(revision);
      await storage.close();
    });
  });

  it('uses TLS with trusted servers only', async () => {
    const { cert, key, certificateAuthority } = await issueServingCertificate();
    const folder = mkdtempSync(join(tmpdir(), 'etcd-tls-'));
    writeFileSync(join(folder, 'cert'), cert);
    writeFileSync(join(folder, 'key'), key);
    const flags = ['--cert-file', join(folder, 'cert'), '--key-file', join(folder, 'key')];
    await using server = await startEtcd(flags, 'https');
    const storage = await openEtcdStorage({ servers: [server.url], ca: Buffer.from(certificateAuthority) });
    await storage.create('/pods/a', () => Buffer.from('1'));
    await storage.close();
    await expect(openEtcdStorage({ servers: [server.url] })).rejects.toThrow(UnavailableError);
    rmSync(folder, { recursive: true });
  });

  it.each([
    ["by etcd's own notifications", ['--experimental-watch-progress-notify-interval=300ms'], false],
    ['on request', [], true],
  ] as const)('reports progress to watches %s', async (_, flags, asks) => {
    await using server = await startEtcd(flags);
    const storage = await openEtcdStorage({ servers: [server.url], compactionIntervalMs: 0 });
    const ended = new AbortController();
    const progress: number[] = [];
    const from = await storage.currentRevision();
    const watching = (async () => {
      for await (const event of storage.watch('/pods/', from, ended.signal)) {
        expect(event).toEqual({ type: 'PROGRESS', key: '', revision: event.revision, record: undefined, previous: undefined });
        progress.push(event.revision);
      }
    })();
    const { revision } = await storage.create('/nodes/a', () => Buffer.from('1'));
    await vi.waitFor(async () => {
      if (asks) await storage.requestProgress();
      expect(progress).toContain(revision);
    });
    expect(progress).toEqual(progress.toSorted((a, b) => a - b));
    ended.abort();
    await watching;
    await storage.close();
  });

  it('reports an unknown outcome if the server received a write and did not respond', async () => {
    await using server = await startEtcd();
    const storage = await openEtcdStorage({ servers: [server.url] });
    server.child.kill('SIGSTOP');
    await hasStopped(server.child);
    const write = storage.create('/pods/a', () => Buffer.from('1')).catch((error: unknown) => error);
    await hasUnread(server.url);
    server.child.kill('SIGKILL');
    expect(await write).toBeInstanceOf(UnknownOutcomeError);
    await once(server.child, 'exit');
    await vi.waitFor(() => expect(storage.create('/pods/b', () => Buffer.from('1'))).rejects.toThrow(UnavailableError));
    await expect(storage.healthy(200)).rejects.toThrow(UnavailableError);
    await storage.close();
  });

  it('is compacted by one of several servers at a time, an interval behind', async () => {
    await using server = await startEtcd();
    const open = (): Promise<EtcdStorage> => openEtcdStorage({ servers: [server.url], compactionIntervalMs: 200 });
    const storages = [await open(), await open()] as const;
    const [storage] = storages;
    const first = await storage.create('/pods/a', () => Buffer.from('1'));
    const second = await storage.update('/pods/a', first.revision, () => Buffer.from('2'));
    await vi.waitFor(async () => expect(await storage.compactRevision()).toBeGreaterThanOrEqual(second.revision));
    await expect(storage.get('/pods/a', { revision: first.revision })).rejects.toThrow(CompactedError);
    expect((await storage.get('/pods/a'))?.value.toString()).toBe('2');
    for (const one of storages) await one.close();
  });

  it('rejects an unreachable server', async () => {
    await expect(openEtcdStorage({ servers: ['http://127.0.0.1:1'] })).rejects.toThrow(/etcd: No connection established/);
  });
}

/** Waits until the stopped server has received bytes. Without a list of sockets, the wait has a fixed time. */
async function hasUnread(url: string): Promise<void> {
  const sockets = '/proc/net/tcp';
  if (!existsSync(sockets)) return sleep(1_000);
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0');
  // `sl local_address rem_address st tx_queue:rx_queue …`; 01 is an established connection.
  const unread = new RegExp(`^ *\\d+: [0-9A-F]{8}:${port} \\S+ 01 [0-9A-F]{8}:(?!0{8})`, 'm');
  await vi.waitFor(() => expect(readFileSync(sockets, 'utf8')).toMatch(unread));
}

/** Waits until the process has stopped; a signal reaches each thread separately, and a running one may still respond. */
async function hasStopped({ pid }: ChildProcess): Promise<void> {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return sleep(500);
  const states = (): string[] => readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'stat'), 'utf8'));
  await vi.waitFor(() => expect(states().filter((state) => !/\) T /.test(state))).toEqual([]));
}
