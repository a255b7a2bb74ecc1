import { setTimeout as sleep } from 'node:timers/promises';
import {
  AdmissionPlugin,
  type Attributes,
  AuthenticatorPlugin,
  AuthorizerPlugin,
  apiGroup,
  type Credentials,
  defineResource,
  type Informer,
  Informers,
  inject,
  type KubeObject,
} from 'kubenest/sdk';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';
import { startTestCluster, type TestCluster } from '#testing/index';

const schema = {
  type: 'object',
  properties: { spec: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
} as const;
const beOf = ({ metadata }: KubeObject): string => metadata.annotations?.['be'] ?? '';
const throwing = (): never => {
  throw new TypeError('undefined is not a function');
};

/** Acts according to the annotation, in one function of the group. */
function act(method: string, object: KubeObject): unknown {
  const [where, how] = beOf(object).split(' ');
  if (where !== method) return undefined;
  switch (how) {
    case 'throws':
      return throwing();
    case 'junk':
      return void Object.assign(object, { spec: { run: () => 1 } });
    case 'renames':
      return void Object.assign(object, { kind: 'Other' });
    default:
      return 'text';
  }
}

const items = defineResource({
  kind: 'Item',
  resource: 'items',
  versions: [{ name: 'v1', schema }],
  columns: [
    { name: 'Size', type: 'string', description: 'Size.', value: (item) => (beOf(item) === 'column throws' ? throwing() : 'large') },
  ],
  strategy: {
    prepareForCreate: (item) => void act('prepareForCreate', item),
    validate: (item) => (act('validate', item) ?? []) as never,
    warningsOnCreate: (item) => (act('warningsOnCreate', item) ?? []) as never,
  },
});
const orders = defineResource({
  kind: 'Order',
  resource: 'orders',
  versions: [{ name: 'v1', schema }],
  create: (sent) => {
    switch (beOf(sent)) {
      case 'throws':
        return throwing();
      case 'nothing':
        return undefined as never;
      case 'renames':
        return { ...sent, kind: 'Item' };
      case 'junk':
        return { ...sent, spec: { run: () => 1 } } as never;
      case 'hangs':
        return new Promise<never>(() => {});
      default:
        return sent;
    }
  },
});

const tokens: Readonly<Record<string, () => unknown>> = {
  text: () => 'jane',
  groups: () => ({ name: 'jane', groups: 'system:masters' }),
  throws: throwing,
  hangs: () => new Promise(() => {}),
};
@AuthenticatorPlugin({ name: 'Keys' })
class Keys {
  authenticate({ headers }: Credentials): undefined {
    // The declaration is wrong on purpose, as in a package without types.
    return tokens[String(headers['x-key'])]?.() as undefined;
  }
}

const decide: Readonly<Record<string, () => unknown>> = { ...tokens, true: () => true, allow: () => ({ decision: 'allow' }) };
@AuthorizerPlugin({ name: 'Gate', failurePolicy: 'Deny' })
class Gate {
  authorize({ user, name }: { user: { name: string }; name: string }): never {
    return (user.name === 'jane' && decide[name] ? decide[name]() : { decision: 'NoOpinion', reason: '' }) as never;
  }
}

const listened: string[] = [];
/** Changes objects of informers, and throws in a listener. */
@AdmissionPlugin({ name: 'Reader', match: [{ resources: ['secrets'], operations: ['CREATE'] }] })
class Reader {
  readonly #maps: Informer<KubeObject>;

  constructor(@inject(Informers) informers: Informers) {
    this.#maps = informers.for({ group: '', resource: 'configmaps' });
    this.#maps.subscribe((_, object) => {
      listened.push(object.metadata.name ?? '');
      throw new TypeError('undefined is not a function');
    });
  }

  validate({ name }: Attributes): void {
    const found = this.#maps.get('default', 'shared') as KubeObject;
    if (name === 'get') found.metadata.labels = { changed: 'yes' };
    if (name === 'list') delete (this.#maps.list('default') as { data?: object }[])[0]?.data;
  }
}

const paths = {
  items: '/apis/shop.example.com/v1/namespaces/default/items',
  orders: '/apis/shop.example.com/v1/namespaces/default/orders',
};
const configMaps = '/api/v1/namespaces/default/configmaps';

describe('contributions that are wrong', () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    const shop = apiGroup({ name: 'Shop', group: 'shop.example.com', resources: [items, orders] });
    const of = (plugin: unknown) => ({ plugin: plugin as never, package: '@acme/wrong', guard: { timeoutMs: 200 } });
    cluster = await startTestCluster({
      quiet: true,
      users: [{ name: 'jane' }],
      plugins: [of(Keys), of(Gate), of(Reader), of(shop)],
    });
  });
  afterAll(() => cluster[Symbol.asyncDispose]());

  const shop = (kind: 'Item' | 'Order', be: string, name = 'wrong') => ({
    apiVersion: 'shop.example.com/v1',
    kind,
    metadata: { name, annotations: { be } },
  });
  const failed = 'Internal error occurred: API group "Shop" of package @acme/wrong failed in';

  it.each([
    ['prepareForCreate throws', `${failed} \`prepareForCreate\``],
    ['prepareForCreate junk', `${failed} \`prepareForCreate\``],
    ['prepareForCreate renames', `${failed} \`prepareForCreate\``],
    ['validate throws', `${failed} \`validate\``],
    ['validate text', `${failed} \`validate\``],
    ['warningsOnCreate text', `${failed} \`warningsOnCreate\``],
  ])('an API group whose strategy %s stores nothing', async (be, message) => {
    const response = await cluster.fetch(paths.items, { body: shop('Item', be) });
    expect(await response.json()).toMatchObject({ code: 500, message: expect.stringContaining(message) as unknown });
    expect(await (await cluster.fetch(paths.items)).json()).toMatchObject({ kind: 'ItemList', items: [] });
  });

  it('an API group whose column throws does not spoil the table', async () => {
    for (const be of ['column throws', 'right'])
      expect((await cluster.fetch(paths.items, { body: shop('Item', be, be.replace(' ', '-')) })).status).toBe(201);
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const table = (await (await cluster.fetch(paths.items, { headers: { accept } })).json()) as { rows: { cells: string[] }[] };
    expect(table.rows.map(({ cells }) => cells.at(-1))).toEqual(['<error>', 'large']);
  });

  it.each([
    ['throws', 500, `${failed} \`create\``],
    ['nothing', 500, `${failed} \`create\``],
    ['renames', 500, `${failed} \`create\``],
    ['junk', 500, `${failed} \`create\``],
    ['hangs', 504, 'Timeout: API group "Shop" of package @acme/wrong gave no answer within 200 ms'],
  ])('a virtual resource whose handler %s', async (be, code, message) => {
    expect(await (await cluster.fetch(paths.orders, { body: shop('Order', be) })).json()).toMatchObject({ code, message });
  });

  it.each(Object.keys(tokens))('an authenticator with this result or failure authenticates no user: %s', async (key) => {
    const answer = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
      body: {},
      as: null,
      headers: { 'x-key': key },
    });
    expect(answer.status).toBe(401);
  });

  it.each(Object.keys(decide))('an authorizer that returns, or does, this denies, since it fails closed: %s', async (name) => {
    const answer = await cluster.fetch(`${configMaps}/${name}`, { as: 'jane' });
    const message = expect.stringContaining('authorizer "Gate" of package @acme/wrong') as unknown;
    expect(await answer.json()).toMatchObject({ code: 403, message });
  });

  it('a plugin cannot change what informers return, and its listeners do not disturb others', async () => {
    const shared = { metadata: { name: 'shared', labels: { team: 'a' } }, data: { a: 'b' } };
    expect((await cluster.fetch(configMaps, { body: shared })).status).toBe(201);
    await vi.waitFor(() => expect(listened).toContain('shared'));
    for (const name of ['get', 'list']) {
      const answer = await cluster.fetch('/api/v1/namespaces/default/secrets', { body: { metadata: { name } } });
      const message = 'Internal error occurred: admission plugin "Reader" of package @acme/wrong failed';
      expect(await answer.json()).toMatchObject({ code: 500, message });
    }
    const selected: unknown = await (await cluster.fetch(`${configMaps}?labelSelector=team=a`)).json();
    expect(selected).toMatchObject({ items: [shared] });
    expect((await cluster.fetch(configMaps, { body: { metadata: { name: 'later' } } })).status).toBe(201);
    await vi.waitFor(() => expect(listened).toContain('later'));
  });

  it('are counted by package, plugin and reason', async () => {
    const metrics = await (await cluster.fetch('/metrics')).text();
    const text = metrics
      .split('\n')
      .filter((line) => line.startsWith('kubenest_plugin_failures_total'))
      .join('\n');
    for (const [plugin, reason] of [
      ['Shop', 'error'],
      ['Shop', 'identity'],
      ['Shop', 'return'],
      ['Shop', 'timeout'],
      ['Keys', 'return'],
      ['Keys', 'timeout'],
      ['Gate', 'error'],
      ['Gate', 'return'],
      ['Gate', 'timeout'],
    ])
      expect(text).toMatch(new RegExp(`plugin_failures_total\\{package="@acme/wrong",plugin="${plugin}",reason="${reason}"\\} [1-9]`));
  });

  it('keep other requests below 100 ms at p99', async () => {
    let isDone = false;
    const wrong = Promise.all([
      ...['throws', 'junk', 'hangs'].map((be) => cluster.fetch(paths.orders, { body: shop('Order', be) })),
      ...Object.keys(decide).map((name) => cluster.fetch(`${configMaps}/${name}`, { as: 'jane' })),
      ...Object.keys(tokens).map((key) => cluster.fetch(configMaps, { as: null, headers: { 'x-key': key } })),
    ]).finally(() => {
      isDone = true;
    });
    const times: number[] = [];
    while (!isDone) {
      const began = threadMilliseconds();
      expect((await cluster.fetch(configMaps)).status).toBe(200);
      times.push(threadMilliseconds() - began);
      await sleep(1);
    }
    await wrong;
    expect(times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)]).toBeLessThan(100);
  });
});
