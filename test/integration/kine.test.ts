import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { migrate } from '#cmd/backup/backup';
import { startTestCluster, type TestCluster } from '#testing/index';
import { kine, noKine, startKine } from '../servers/kine-server.ts';

const configMaps = '/api/v1/namespaces/default/configmaps';

interface ConfigMap {
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly data?: Readonly<Record<string, string>>;
}

if (kine === undefined) it('requires kine', ({ skip }) => skip(noKine));
else {
  describe('two servers on one kine', () => {
    let store: Awaited<ReturnType<typeof startKine>>;
    let one: TestCluster;
    let two: TestCluster;
    beforeAll(async () => {
      store = await startKine();
      one = await startTestCluster({ storage: { etcdUrl: store.url } });
      two = await startTestCluster({ storage: { etcdUrl: store.url } });
    }, 60_000);
    afterAll(async () => {
      await one?.[Symbol.asyncDispose]();
      await two?.[Symbol.asyncDispose]();
      await store[Symbol.asyncDispose]();
    });

    const create = (cluster: TestCluster, name: string): Promise<Response> =>
      cluster.fetch(configMaps, { body: { metadata: { name }, data: { a: '1' } } });

    it("read each other's writes immediately, individually and in lists", async () => {
      for (let i = 0; i < 6; i++) {
        const [writer, reader] = i % 2 === 0 ? [one, two] : [two, one];
        expect((await create(writer, `read-${i}`)).status).toBe(201);
        expect((await reader.fetch(`${configMaps}/read-${i}`)).status).toBe(200);
        const { items } = (await (await reader.fetch(configMaps)).json()) as { readonly items: readonly ConfigMap[] };
        expect(items.map(({ metadata }) => metadata.name)).toContain(`read-${i}`);
      }
    });

    it('detect conflicting writes', async () => {
      const object = (await (await create(one, 'raced')).json()) as ConfigMap;
      const put = (cluster: TestCluster): Promise<Response> =>
        cluster.fetch(`${configMaps}/raced`, { method: 'PUT', body: { ...object, data: { a: '2' } } });
      expect((await Promise.all([put(one), put(two)])).map(({ status }) => status).sort()).toEqual([200, 409]);
    });

    it("send each other's creates, updates and deletions to watches", async () => {
      const leave = new AbortController();
      const response = await two.fetch(`${configMaps}?watch=1`, { signal: leave.signal });
      let text = '';
      const reading = (async () => {
        for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) text += new TextDecoder().decode(chunk);
      })().catch(() => {});
      const object = (await (await create(one, 'watched')).json()) as ConfigMap;
      await one.fetch(`${configMaps}/watched`, { method: 'PUT', body: { ...object, data: { a: '2' } } });
      await one.fetch(`${configMaps}/watched`, { method: 'DELETE' });
      const seen = (): string[] =>
        text
          .split('\n')
          .filter((line) => line.includes('"watched"'))
          .map((line) => (JSON.parse(line) as { readonly type: string }).type);
      await vi.waitUntil(() => seen().includes('DELETED'), { interval: 20 });
      leave.abort();
      await reading;
      expect(seen()).toEqual(['ADDED', 'MODIFIED', 'DELETED']);
    });
  });

  it('a store migrates to kine and back with higher revisions', { timeout: 120_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kine-migration-'));
    for (const name of ['here', 'there']) mkdirSync(join(folder, name));
    await using store = await startKine();
    const inKine = ['--storage-backend=etcd3', `--etcd-servers=${store.url}`];
    const read = async (storage: { file: string } | { etcdUrl: string }): Promise<ConfigMap> => {
      await using cluster = await startTestCluster({ storage });
      return (await (await cluster.fetch(`${configMaps}/a`)).json()) as ConfigMap;
    };
    const [here, there] = [join(folder, 'here'), join(folder, 'there')];
    await (async () => {
      await using cluster = await startTestCluster({ storage: { file: join(here, 'kubenest.db') } });
      expect((await cluster.fetch(configMaps, { body: { metadata: { name: 'a' }, data: { a: '1' } } })).status).toBe(201);
    })();
    const first = await read({ file: join(here, 'kubenest.db') });
    await migrate([`--data-dir=${here}`], inKine);
    const second = await read({ etcdUrl: store.url });
    await migrate(inKine, [`--data-dir=${there}`]);
    const third = await read({ file: join(there, 'kubenest.db') });
    expect([second.data, third.data]).toEqual([first.data, first.data]);
    const [a, b, c] = [first, second, third].map(({ metadata }) => Number(metadata.resourceVersion)) as [number, number, number];
    expect(b).toBeGreaterThan(a + 10_000);
    expect(c).toBeGreaterThan(b + 10_000);
    rmSync(folder, { recursive: true });
  });
}
