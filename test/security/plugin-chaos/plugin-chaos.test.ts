import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { KubeObject } from '#apimachinery/meta/types';
import { Metrics } from '#apiserver/base/metrics/metrics';
import { loadPlugins } from '#apiserver/plugins/load-plugins';
import type { PluginRequest } from '#apiserver/plugins/plugin-request';
import type { PluginOrigin } from '#apiserver/plugins/plugin-origin';
import { StrayErrors } from '#apiserver/plugins/stray-errors';
import { Contributions } from '#cmd/modules/contributions';
import { startTestCluster, type TestCluster } from '#testing/index';
import { writeChaoticPackages } from './chaotic-package.ts';
import { failures, maps, OtherClient, secrets } from './other-client.ts';

const items = '/apis/shop.example.com/v1/namespaces/default/items';
const orders = '/apis/shop.example.com/v1/namespaces/default/orders';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubenest-chaos-'));
  await writeChaoticPackages(folder);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const present = { data: { a: 'b' }, metadata: { name: 'present', labels: { team: 'a' } } };

/** Expects the right objects and lists of all kinds. */
async function expectRightState(cluster: TestCluster, more: readonly string[] = []): Promise<void> {
  const list = (await (await cluster.fetch(maps)).json()) as { kind: string; items: (KubeObject & { data?: object })[] };
  expect(list.kind).toBe('ConfigMapList');
  expect(list.items.map(({ metadata }) => metadata.name).toSorted()).toEqual(['present', ...more].toSorted());
  for (const { data, metadata } of list.items) {
    expect(data).toEqual(present.data);
    expect(metadata.namespace).toBe('default');
  }
  expect(list.items.find(({ metadata }) => metadata.name === 'present')).toMatchObject(present);
  expect((await cluster.fetch(secrets)).status).toBe(200);
  expect((await cluster.fetch('/debug/traces')).status).toBe(200);
}

const started = async (name: string, more: Partial<PluginRequest> = {}): Promise<TestCluster> => {
  const plugins = await loadPlugins([{ package: `./${name}`, guard: { timeoutMs: 1_000 }, ...more }], folder);
  const policy = join(folder, 'policy.yaml');
  await writeFile(
    policy,
    'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata, resources: [{ group: "", resources: [configmaps] }] }]\n',
  );
  const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${join(folder, `${name}.log`)}`, '--request-traces=10'];
  const cluster = await startTestCluster({ config: { plugins }, flags, quiet: true, users: [{ name: 'jane' }] });
  expect((await cluster.fetch(maps, { body: present })).status).toBe(201);
  return cluster;
};

const create = async (cluster: TestCluster, be: string): Promise<Response> =>
  cluster.fetch(maps, {
    body: { metadata: { name: 'wrong', annotations: { be } }, data: present.data },
    headers: { 'kubenest-trace': 'yes' },
  });

/** Ways that let the request succeed: the error comes from elsewhere, or has no effect. */
const stray = [
  'throws-in-timer',
  'rejects-unhandled',
  'throws-in-tick',
  'throws-in-immediate',
  'throws-in-microtask',
  'throws-in-event-target',
  'throws-in-message-port',
  'throws-in-file-callback',
  'rejects-unhandled-of-another-realm',
  'rejects-unhandled-without-reason',
  'fails-to-spawn',
  'fails-to-connect',
  'fails-in-a-worker',
];
/** Ways that send the server more messages from a thread than it can handle, or wrong ones. The call succeeds unless its time is over. */
const floods = ['floods-metrics', 'floods-log', 'floods-console', 'floods-reads', 'floods-writes', 'floods-rejections', 'misuses-metrics'];
const countedFloods = new Set(['floods-rejections', 'misuses-metrics']);
const harmless = [
  'changes-later',
  'leaves-symbol-key',
  'leaves-undefined',
  'leaves-hidden-member',
  'leaves-getter',
  'leaves-proxy',
  'leaves-bare-object',
  'changes-the-request',
  'calls-the-request-later',
  'adds-strange-annotations',
  'adds-strange-warnings',
  'adds-strange-notes',
  'leaves-changing-getter',
  'freezes-the-object',
  'seals-the-object',
  'leaves-read-only-members',
  'shares-objects-between-calls',
  'replaces-the-request',
  'uses-async-local-storage',
  'runs-a-worker',
];
const onObjects = [
  'leaves-function',
  'leaves-bigint',
  'leaves-cycle',
  'leaves-symbol',
  'removes-metadata',
  'changes-kind',
  'changes-name',
  'changes-namespace',
  'changes-uid',
  'changes-half-and-throws',
  'leaves-date',
  'leaves-map',
  'leaves-set',
  'leaves-instance',
  'leaves-instance-without-constructor',
  'leaves-bytes',
  'leaves-boxed-text',
  'leaves-nan',
  'leaves-infinity',
  'leaves-fraction',
  'leaves-sparse-list',
  'leaves-promise',
  'leaves-promised-data',
  'leaves-number',
  'leaves-text',
  'leaves-list',
  'leaves-unknown-field',
  'leaves-to-json',
  'leaves-throwing-getter',
  'leaves-hostile-object',
  'leaves-revoked-proxy',
  'leaves-text-as-metadata',
  'leaves-list-as-name',
  'removes-kind',
  'leaves-deep-object',
  'leaves-deep-list',
  'leaves-own-prototype-member',
  'leaves-constructor-member',
];
const anywhere = [
  'throws',
  'throws-nothing',
  'rejects',
  'hangs',
  'overflows',
  'returns-text',
  'returns-bigint',
  'returns-function',
  'returns-cycle',
  'throws-bare-object',
  'throws-hostile-object',
  'throws-hostile-error',
  'throws-getters',
  'throws-strange-members',
  'throws-symbol',
  'throws-bigint',
  'throws-status-with-bigint',
  'throws-status-with-cycle',
  'throws-status-with-function',
  'throws-status-of-another-kind',
  'throws-status-with-getter',
  'throws-status-without-message',
  'throws-null-status',
  'throws-status-with-text-as-delay',
  'returns-thenable-that-throws',
  'returns-thenable-getter',
  'returns-bare-object',
  'returns-hostile-object',
  'returns-async-generator',
  'returns-array',
  'returns-class',
  'returns-thenable-that-settles-twice',
  'throws-a-secret',
  'throws-function',
  'throws-promise',
  'throws-error-of-another-realm',
  'throws-text-of-another-realm',
  'throws-aggregate',
  'throws-dom-exception',
  'throws-huge-error',
  'throws-huge-denial',
  'throws-changing-status',
  'throws-strange-status-code',
  'throws-system-error',
  'imports-missing-module',
  'imports-missing-package',
  'changes-the-folder',
];

/** Ways that end after the timeout, or never, other than `hangs`. */
const late = [
  'returns-thenable-that-never-settles',
  'returns-thenable-of-thenables',
  'fails-after-the-timeout',
  'returns-text-after-the-timeout',
];

/** An admission plugin must fail with an answer that names it, and nothing may be stored. */
async function expectAdmissionFault(cluster: TestCluster, phase: string, way: string, name: string): Promise<void> {
  const before = await failures(cluster, name);
  const response = await create(cluster, `${phase} ${way}`);
  const answer = (await response.json()) as { message: string };
  if (stray.includes(way) || harmless.includes(way)) {
    expect(response.status, answer.message).toBe(201);
    await sleep(30);
    await expectRightState(cluster, ['wrong']);
    await cluster.fetch(`${maps}/wrong`, { method: 'DELETE' });
  } else if (way === 'grows-the-object') {
    expect(answer.message).toContain('may not be more than 1048576 bytes');
    await expectRightState(cluster);
    return;
  } else {
    expect(answer).toMatchObject({
      code: 500,
      message: expect.stringContaining(`admission plugin "Wild" of package @acme/${name}`) as unknown,
    });
    await expectRightState(cluster);
  }
  if (!harmless.includes(way)) await vi.waitFor(async () => expect(await failures(cluster, name)).toBeGreaterThan(before));
}

describe('in the process of the server', () => {
  let cluster: TestCluster;
  let other: OtherClient;
  const listeners = {
    uncaughtException: process.listeners('uncaughtException'),
    unhandledRejection: process.listeners('unhandledRejection'),
  };
  let handled: Disposable;
  /** Exceptions that would have ended the process. */
  const unattributed: unknown[] = [];
  beforeAll(async () => {
    cluster = await started('everything');
    other = new OtherClient(cluster);
    const fetch = cluster.fetch.bind(cluster);
    vi.spyOn(cluster, 'fetch').mockImplementation(async (path, options) => {
      const response = await fetch(path, options);
      // The text of an error that a plugin throws is for the log and for traces, and not for clients.
      if (!path.startsWith('/debug')) expect(await response.clone().text()).not.toContain('correct-horse');
      return response;
    });
    // As the command does: the test runner would fail at errors that no code handles.
    for (const event of ['uncaughtException', 'unhandledRejection']) process.removeAllListeners(event);
    const metrics = cluster.app.nest.get<Metrics>(Metrics, { strict: false });
    const contributions = cluster.app.nest.get<Contributions>(Contributions, { strict: false });
    const packages = (): PluginOrigin[] => contributions.all.flatMap(({ origin }) => origin ?? []);
    handled = new StrayErrors(cluster.app.log, metrics, packages, (error) => void unattributed.push(error)).listen(process);
  }, 60_000);
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]();
    handled[Symbol.dispose]();
    for (const listener of listeners.uncaughtException) process.on('uncaughtException', listener);
    for (const listener of listeners.unhandledRejection) process.on('unhandledRejection', listener);
  });
  beforeEach(() => other.begin());
  afterEach(async () => {
    await other.end();
    // Otherwise, one failure would cause others.
    await cluster.fetch(`${maps}/wrong`, { method: 'DELETE' });
    expect(unattributed.splice(0)).toEqual([]);
  });

  it.each([...anywhere, ...late, ...onObjects, ...stray, ...harmless, 'grows-the-object'])(
    'an admission plugin that %s in `admit`',
    (way) => expectAdmissionFault(cluster, 'admit', way, 'everything'),
  );

  it.each([...anywhere, ...onObjects, ...stray, ...harmless])('an admission plugin that %s in `validate`', (way) =>
    expectAdmissionFault(cluster, 'validate', way, 'everything'),
  );

  it.each([...anywhere, ...late])('an authenticator that %s', async (way) => {
    const headers = { 'x-be': `authenticator ${way}` };
    const before = await failures(cluster, 'everything');
    const answer = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: {}, as: null, headers });
    expect(answer.status).toBe(401);
    // Throwing is how an authenticator rejects credentials.
    const isFault =
      !way.startsWith('throws') && !['rejects', 'overflows', 'changes-the-folder'].includes(way) && !way.startsWith('imports');
    expect((await failures(cluster, 'everything')) > before).toBe(isFault);
  });

  it.each([...anywhere, ...late])('an authorizer that %s', async (way) => {
    const answer = await cluster.fetch(`${maps}/be-${way}`, { as: 'jane' });
    const message = expect.stringContaining('authorizer "Gate" of package @acme/everything') as unknown;
    expect(await answer.json()).toMatchObject({ code: 403, message });
  });

  it.each(anywhere)('an authorizer whose `rulesFor` %s', async (way) => {
    const headers = { 'impersonate-user': `be-${way}` };
    const answer = await cluster.fetch('/apis/authorization.k8s.io/v1/selfsubjectrulesreviews', {
      body: { spec: { namespace: 'default' } },
      headers,
    });
    const evaluationError = expect.stringContaining('authorizer "Gate" of package @acme/everything') as unknown;
    expect(await answer.json()).toMatchObject({ status: { incomplete: true, evaluationError } });
  });

  it.each([
    ...anywhere.map((way) => `call ${way}`),
    ...anywhere.filter((way) => way.startsWith('returns')).map((way) => `user ${way}`),
    ...['error', 'fail', 'success'].map((action) => `later ${action}`),
  ])('a passport strategy: %s', async (way) => {
    const headers = { 'x-pass': way };
    const before = await failures(cluster, 'everything');
    const answer = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', { body: {}, as: null, headers });
    expect(answer.status).toBe(401);
    // The strategy has answered, so its time is not over.
    if (way.startsWith('later')) expect(await failures(cluster, 'everything')).toBe(before);
  });

  /** Ways whose results a page may return. */
  const answers = ['text', 'bigint', 'function', 'bare-object', 'array', 'class', 'async-generator', 'thenable-that-settles-twice'].map(
    (what) => `returns-${what}`,
  );
  it.each([
    ...[...anywhere, ...stray].flatMap((way) => [
      ['GET', way],
      ['POST', way],
    ]),
    ...late.map((way) => ['GET', way]),
  ])('a page: %s of what %s', async (method, way) => {
    const before = await failures(cluster, 'everything');
    const answer = await cluster.fetch(`/wild/${way}`, { method, ...(method === 'POST' && { body: {} }) });
    if (stray.includes(way) || answers.includes(way)) {
      expect(answer.status).toBe(method === 'GET' ? 200 : 201);
    } else {
      const message = expect.stringContaining('pages "Pages" of package @acme/everything') as unknown;
      expect(await answer.json()).toMatchObject({ kind: 'Status', code: way === 'hangs' || late.includes(way) ? 504 : 500, message });
    }
    if (!answers.includes(way)) await vi.waitFor(async () => expect(await failures(cluster, 'everything')).toBeGreaterThan(before));
  });

  const withoutPlace = [
    'rejects-unhandled-of-another-realm',
    'rejects-unhandled-without-reason',
    'fails-to-spawn',
    'fails-to-connect',
    'fails-in-a-worker',
  ];
  it.each(['throws', 'overflows', 'rejects', ...stray.filter((way) => !withoutPlace.includes(way))])(
    'a module of pages: a timer that it started when it was created %s',
    async (way) => {
      const before = await failures(cluster, 'everything');
      expect((await cluster.fetch(`/wild/later-${way}`)).status).toBe(200);
      await vi.waitFor(async () => expect(await failures(cluster, 'everything')).toBeGreaterThan(before));
    },
  );

  it.each([...anywhere, ...late.slice(0, 2)])('an audit backend that %s', async (way) => {
    const before = await failures(cluster, 'everything');
    expect((await cluster.fetch(`${maps}/present?audit=${way}`)).status).toBe(200);
    await vi.waitFor(async () => expect(await failures(cluster, 'everything')).toBeGreaterThan(before));
    await expectRightState(cluster);
  });

  it.each(['throws', 'overflows', 'leaves-function', 'removes-metadata', 'changes-kind', 'changes-half-and-throws', 'rejects'])(
    'an informer listener of a controller that %s',
    async (way) => {
      const before = await failures(cluster, 'everything');
      const metadata = { name: 'listened', annotations: { be: `listener ${way}` } };
      expect((await cluster.fetch(maps, { body: { metadata, data: present.data } })).status).toBe(201);
      await vi.waitFor(async () => expect(await failures(cluster, 'everything')).toBeGreaterThan(before));
      await expectRightState(cluster, ['listened']);
      await cluster.fetch(`${maps}/listened`, { method: 'DELETE' });
    },
  );

  const sync = anywhere.filter((way) => !way.startsWith('returns') && way !== 'hangs');
  const changes = ['leaves-function', 'removes-metadata', 'changes-kind', 'changes-half-and-throws'];
  it.each([
    ...[...sync, ...changes].flatMap((way) => ['handler', 'filter'].map((part) => [part, way] as const)),
    ...[...anywhere, ...changes].map((way) => ['index', way] as const),
    // `returns-cycle` returns a list of one request, as it should.
    ...[...anywhere, ...changes].filter((way) => way !== 'returns-cycle').map((way) => ['watches', way] as const),
  ])('a controller whose %s function %s', async (part, way) => {
    const before = await failures(cluster, 'everything');
    const metadata = { name: 'wrong', annotations: { be: `${part} ${way}` } };
    expect((await cluster.fetch(maps, { body: { metadata, data: present.data } })).status).toBe(201);
    await vi.waitFor(async () => expect(await failures(cluster, 'everything')).toBeGreaterThan(before));
    await expectRightState(cluster, ['wrong']);
  });

  // A call that hangs is reported at its next time, and ends the schedule.
  it.each(['throws', 'rejects', 'overflows', 'hangs'])('a schedule that %s', async (way) => {
    const before = await failures(cluster, 'everything');
    Object.assign(globalThis, { scheduleOfTest: way });
    await vi.waitFor(async () => expect(await failures(cluster, 'everything')).toBeGreaterThan(before));
    await expectRightState(cluster);
  });

  it.each([...anywhere, ...stray])('a controller that %s in `reconcile`', async (way) => {
    expect((await cluster.fetch(secrets, { body: { metadata: { name: `be-${way}` } } })).status).toBe(201);
    await sleep(50);
    await expectRightState(cluster);
    await cluster.fetch(`${secrets}/be-${way}`, { method: 'DELETE' });
  });

  const failed = 'API group "Shop" of package @acme/everything';
  const object = (kind: string, be: string): object => ({
    apiVersion: 'shop.example.com/v1',
    kind,
    metadata: { name: 'wrong', annotations: { be } },
  });

  it.each(
    ['prepare', 'strategy'].flatMap((method) =>
      [...anywhere.filter((way) => !(method === 'prepare' && way.startsWith('returns'))), 'changes-kind', 'leaves-function'].map(
        (way) => [method, way] as const,
      ),
    ),
  )('an API group whose %s function %s', async (method, way) => {
    const answer = (await (await cluster.fetch(items, { body: object('Item', `${method} ${way}`) })).json()) as object;
    // Changes of `validate` are dropped.
    if (method === 'strategy' && (way === 'changes-kind' || way === 'leaves-function')) expect(answer).toMatchObject({ kind: 'Item' });
    else expect(answer).toMatchObject({ code: 500, message: expect.stringContaining(failed) as unknown });
    const list = (await (await cluster.fetch(items)).json()) as { kind: string; items: { kind: string }[] };
    expect([list.kind, ...new Set(list.items.map(({ kind }) => kind))]).toEqual(['ItemList', ...(list.items.length > 0 ? ['Item'] : [])]);
    await cluster.fetch(`${items}/wrong`, { method: 'DELETE' });
  });

  it.each([...anywhere, 'fails-after-the-timeout', 'changes-kind', 'leaves-function', 'removes-metadata'])(
    'a virtual resource whose handler %s',
    async (way) => {
      const answer = await (await cluster.fetch(orders, { body: object('Order', `create ${way}`) })).json();
      expect(answer).toMatchObject({
        code: way === 'hangs' || late.includes(way) ? 504 : 500,
        message: expect.stringContaining(failed) as unknown,
      });
    },
  );

  const parcels = (version: string): string => `/apis/shop.example.com/${version}/namespaces/default/parcels`;

  it.each([...anywhere, 'leaves-function', 'removes-metadata', 'changes-kind'])('a conversion that %s', async (way) => {
    const before = await failures(cluster, 'everything');
    expect((await cluster.fetch(parcels('v1'), { body: object('Parcel', `convert ${way}`) })).status).toBe(201);
    const message = expect.stringContaining(`${failed} failed in \`convert\``) as unknown;
    const other = {
      ...object('Parcel', `convert ${way}`),
      apiVersion: 'shop.example.com/v2',
      metadata: { name: 'other', annotations: { be: `convert ${way}` } },
    };
    for (const answer of [await cluster.fetch(`${parcels('v2')}/wrong`), await cluster.fetch(parcels('v2'), { body: other })])
      expect(await answer.json()).toMatchObject({ code: 500, message });
    expect(await (await cluster.fetch(parcels('v1'))).json()).toMatchObject({ items: [{ kind: 'Parcel', metadata: { name: 'wrong' } }] });
    expect((await cluster.fetch(`${parcels('v1')}/wrong`, { method: 'DELETE' })).status).toBe(200);
    expect(await failures(cluster, 'everything')).toBeGreaterThan(before);
  });

  it('lists name a failed conversion, and succeed again when its object is gone', async () => {
    const listed = async (): Promise<object> => (await (await cluster.fetch(parcels('v2'))).json()) as object;
    const succeeds = (): Promise<void> =>
      vi.waitFor(async () => expect(await listed()).toMatchObject({ kind: 'ParcelList', items: [] }), { interval: 200 });
    await succeeds();
    expect((await cluster.fetch(parcels('v1'), { body: object('Parcel', 'convert throws') })).status).toBe(201);
    expect(await listed()).toMatchObject({
      kind: 'Status',
      message: expect.stringContaining(`${failed} failed in \`convert\``) as unknown,
    });
    expect((await cluster.fetch(`${parcels('v1')}/wrong`, { method: 'DELETE' })).status).toBe(200);
    await succeeds();
  }, 60_000);

  it.each(['throws', 'overflows', 'returns-function', 'returns-cycle', 'changes-kind'])('a column that %s', async (way) => {
    expect((await cluster.fetch(items, { body: object('Item', `column ${way}`) })).status).toBe(201);
    const table = await cluster.fetch(items, { headers: { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' } });
    expect([table.status, ((await table.json()) as { rows: object[] }).rows.length]).toEqual([200, 1]);
    expect(await (await cluster.fetch(`${items}/wrong`)).json()).toMatchObject({ kind: 'Item' });
    await cluster.fetch(`${items}/wrong`, { method: 'DELETE' });
  });
});

describe('in a worker thread', () => {
  let cluster: TestCluster;
  let other: OtherClient;
  beforeAll(async () => {
    cluster = await started('admission', { isolation: 'worker', memoryMiB: 64, guard: { timeoutMs: 1_500 } });
    other = new OtherClient(cluster);
  }, 60_000);
  afterAll(() => cluster[Symbol.asyncDispose]());
  beforeEach(() => other.begin());
  afterEach(() => other.end());

  const worksAgain = (): Promise<void> =>
    vi.waitFor(
      async () => expect((await cluster.fetch(`${maps}?dryRun=All`, { body: { metadata: { name: 'right' } } })).status).toBe(201),
      { timeout: 30_000, interval: 100 },
    );

  it.each(['throws', 'rejects', 'overflows', 'leaves-function', 'changes-half-and-throws', 'loops', 'exits'])(
    'a listener of an informer that %s',
    async (way) => {
      const before = await failures(cluster, 'admission');
      const metadata = { name: 'listened', annotations: { be: `listener ${way}` } };
      await cluster.fetch(maps, { body: { metadata, data: present.data } });
      await cluster.fetch(`${maps}/listened`, { method: 'DELETE' });
      // A thread without calls is not missed until the next one.
      await vi.waitFor(
        async () => {
          await cluster.fetch(`${maps}?dryRun=All`, { body: { metadata: { name: 'right' } } });
          expect(await failures(cluster, 'admission')).toBeGreaterThan(before);
        },
        { interval: 50 },
      );
      await worksAgain();
      await expectRightState(cluster);
    },
    60_000,
  );

  it.each(floods)(
    'an admission plugin that %s',
    async (way) => {
      const before = await failures(cluster, 'admission');
      const response = await create(cluster, `admit ${way}`);
      const isStored = response.status === 201;
      if (!isStored) expect(await response.text()).toContain('of package @acme/admission gave no answer within 1500 ms');
      if (countedFloods.has(way)) await vi.waitFor(async () => expect(await failures(cluster, 'admission')).toBeGreaterThan(before));
      await worksAgain();
      await expectRightState(cluster, isStored ? ['wrong'] : []);
      await cluster.fetch(`${maps}/wrong`, { method: 'DELETE' });
    },
    60_000,
  );

  it.each([
    ...anywhere,
    ...late,
    ...onObjects,
    ...stray,
    ...harmless,
    'grows-the-object',
    'loops',
    'grows',
    'exits',
    'pollutes',
    'grows-buffers',
    'returns-a-large-object',
  ])(
    'an admission plugin that %s',
    async (way) => {
      const before = await failures(cluster, 'admission', 'memory');
      await expectAdmissionFault(cluster, 'admit', way, 'admission');
      if (way === 'grows-buffers') await vi.waitFor(async () => expect(await failures(cluster, 'admission', 'memory')).toBe(before + 1));
      await worksAgain();
      expect(({} as { polluted?: string }).polluted).toBeUndefined();
    },
    60_000,
  );
});

describe.each(['in the process', 'in a worker'])('a package %s that is wrong while it is loaded', (place) => {
  const more: Partial<PluginRequest> = place === 'in a worker' ? { isolation: 'worker' } : {};

  it.each([
    ['throwing-module', 'index.js:1: in the module'],
    ['hanging-module', 'not loaded within 1000 ms'],
    ['throwing-constructor', 'in the constructor'],
  ])('stops the start: %s', async (name, message) => {
    const load = async (): Promise<unknown> => {
      const plugins = await loadPlugins(
        [{ package: `./${name}`, guard: { startTimeoutMs: name === 'hanging-module' ? 1_000 : 20_000 }, ...more }],
        folder,
      );
      return startTestCluster({ config: { plugins } });
    };
    await expect(load()).rejects.toThrow(new RegExp(`plugin package (?:\\./|@acme/)${name}: .*${message}`));
  });
});

it.each(['throws', 'throws-nothing', 'rejects', 'overflows'])('a controller whose `run` %s', async (way) => {
  Object.assign(globalThis, { runOfTest: way });
  await using cluster = await started('run');
  await vi.waitFor(async () => expect(await failures(cluster, 'run')).toBe(1));
  await expectRightState(cluster);
});

it('a controller that has only a schedule, which throws', async () => {
  Object.assign(globalThis, { onlyOfTest: 'throws' });
  await using cluster = await started('schedule');
  await vi.waitFor(async () => expect(await failures(cluster, 'schedule')).toBeGreaterThan(0));
  await expectRightState(cluster);
});

describe('a post-start hook', () => {
  afterEach(() => {
    delete (globalThis as { hookOfTest?: string }).hookOfTest;
  });

  it.each(['throws', 'throws-nothing', 'rejects', 'hangs', 'overflows'])(
    'that %s stops the start, which names its package',
    async (way) => {
      Object.assign(globalThis, { hookOfTest: way });
      const plugins = await loadPlugins([{ package: './hook', guard: { startTimeoutMs: 2_000 } }], folder);
      await expect(startTestCluster({ config: { plugins }, quiet: true })).rejects.toThrow('package @acme/hook: ');
    },
  );

  it.each(['returns-text', 'returns-bigint', 'returns-function', 'returns-cycle'])('that %s does not affect the start', async (way) => {
    Object.assign(globalThis, { hookOfTest: way });
    await using cluster = await started('hook');
    await expectRightState(cluster);
  });
});
