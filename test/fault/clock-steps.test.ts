/**
 * Steps the wall clock forward and back by an hour while the server runs, as NTP or an administrator may: durations must
 * follow the monotonic clock, timestamps the wall clock, and the order of revisions neither.
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { TokenCache } from '#plugins/authentication/token-cache';
import { startTestCluster, type TestCluster } from '#testing/index';
import { absent, type BackendName, backendNames, startBackend } from '../servers/backends.ts';

const hourMs = 3_600_000;
const issuer = 'https://kubernetes.default.svc';
const base = '/api/v1/namespaces/default';

/** Steps only the wall clock; timers and the monotonic clock are unaffected. */
function step(milliseconds: number): void {
  vi.setSystemTime(Date.now() + milliseconds);
}

interface Shown {
  readonly metadata: {
    readonly resourceVersion: string;
    readonly creationTimestamp: string;
    readonly managedFields: readonly { readonly time: string }[];
  };
}

let ends = new AsyncDisposableStack();
let cluster: TestCluster;

async function startOn(backend: BackendName): Promise<void> {
  const store = ends.use(await startBackend(backend));
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
  const folder = mkdtempSync(join(tmpdir(), 'clock-steps-'));
  ends.defer(() => rmSync(folder, { recursive: true }));
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }));
  const key = `${folder}/sa.key`;
  cluster = await startTestCluster({
    storage: store.storage(join(folder, 'store.db')),
    flags: [
      ...[`--service-account-signing-key-file=${key}`, `--service-account-key-file=${key}`, `--service-account-issuer=${issuer}`],
      ...['--event-ttl=2s', '--disable-admission-plugins=ServiceAccount'],
    ],
    objects: [{ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'robot', namespace: 'default' } }],
  });
  ends.use(cluster);
}
afterEach(async () => {
  vi.useRealTimers();
  await ends.disposeAsync();
  ends = new AsyncDisposableStack();
});

async function json<Body>(path: string, body?: object, method?: string): Promise<Body> {
  const response = await cluster.fetch(path, { ...(body && { body }), ...(method && { method }) });
  expect(response.ok, await response.clone().text()).toBe(true);
  return (await response.json()) as Body;
}

describe.each(
  backendNames.flatMap((on) => [
    { on, name: 'forward', by: hourMs },
    { on, name: 'back', by: -hourMs },
  ]),
)('a wall clock stepped $name by an hour, on $on', ({ on, by }) => {
  /** Starts a server on the backend if the test is not skipped. */
  const started = async (skip: (reason: string) => unknown): Promise<void> => {
    if (absent[on]) skip(absent[on]);
    await startOn(on);
  };

  it('does not change the expiry of an event', async ({ skip }) => {
    await started(skip);
    const list = await json<Shown>(`${base}/events`);
    const watch = await cluster.fetch(`${base}/events?watch=1&resourceVersion=${list.metadata.resourceVersion}&timeoutSeconds=6`);
    const began = performance.now();
    const regarding = { kind: 'Pod', namespace: 'default', name: 'p' };
    await json(`${base}/events`, { metadata: { name: 'e' }, involvedObject: regarding, reason: 'Test', type: 'Normal' });
    step(by);
    await new Promise((resolve) => setTimeout(resolve, 1_000));
    expect((await cluster.fetch(`${base}/events/e`)).status).toBe(200);
    await vi.waitFor(async () => expect((await cluster.fetch(`${base}/events/e`)).status).toBe(404), { interval: 50 });
    expect(performance.now() - began).toBeGreaterThan(1_900);
    // The watch ends at its timeout, too.
    const events = (await watch.text()).trim().split('\n');
    expect(events.map((line) => (JSON.parse(line) as { readonly type: string }).type)).toEqual(['ADDED', 'DELETED']);
    expect(performance.now() - began).toBeGreaterThan(5_000);
    expect(performance.now() - began).toBeLessThan(15_000);
  });

  it('determines the timestamps of objects and managers, while revisions increase', async ({ skip }) => {
    await started(skip);
    const before = await json<Shown>(`${base}/configmaps`, { metadata: { name: 'a' }, data: { a: '1' } });
    step(by);
    const updated = await json<Shown>(`${base}/configmaps/a`, { metadata: { name: 'a' }, data: { a: '2' } }, 'PUT');
    const created = await json<Shown>(`${base}/configmaps`, { metadata: { name: 'b' } });
    const distance = (later: string): number => Date.parse(later) - Date.parse(before.metadata.creationTimestamp) - by;
    expect(updated.metadata.creationTimestamp).toBe(before.metadata.creationTimestamp);
    for (const time of [updated.metadata.managedFields[0]!.time, created.metadata.creationTimestamp])
      expect(Math.abs(distance(time)), time).toBeLessThan(10_000);
    const revisions = [before, updated, created].map(({ metadata }) => Number(metadata.resourceVersion));
    expect(revisions).toEqual(revisions.toSorted((a, b) => a - b));
    expect(new Set(revisions).size).toBe(3);
  });

  it('determines the expiry of tokens', async ({ skip }) => {
    await started(skip);
    const { status } = await json<{ readonly status: { readonly token: string } }>(`${base}/serviceaccounts/robot/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { expirationSeconds: 600 },
    });
    const whoAmI = async (): Promise<number> => {
      const response = await cluster.fetch('/apis/authentication.k8s.io/v1/selfsubjectreviews', {
        as: null,
        headers: { authorization: `Bearer ${status.token}` },
        body: { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' },
      });
      return response.status;
    };
    step(by);
    // Forward: the token has expired. Back: it is not valid yet. (A valid token is cached for ten seconds.)
    expect(await whoAmI()).toBe(401);
    step(-by);
    expect(await whoAmI()).toBe(201);
  });
});

describe.each([
  { name: 'forward', by: hourMs },
  { name: 'back', by: -hourMs },
])('a wall clock stepped $name by an hour', ({ by }) => {
  it('does not change the lifetime of cached tokens', async () => {
    vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
    let asked = 0;
    const tokens = new TokenCache(
      {
        name: 'test',
        authenticateToken: () => {
          asked += 1;
          return { name: 'jane', groups: [] };
        },
      },
      { successMs: 200, failureMs: 0 },
    );
    const request = { warn() {}, annotate() {} };
    await tokens.authenticateToken('secret', request);
    step(by);
    await tokens.authenticateToken('secret', request);
    expect(asked).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 250));
    await tokens.authenticateToken('secret', request);
    expect(asked).toBe(2);
  });
});
