/**
 * Take-over between the controllers and the scheduler of kubenest and the real ones, under load. Two servers share a store: one runs
 * controllers, a scheduler and nodes, the other serves kube-controller-manager and kube-scheduler.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { findReference } from '../../../scripts/find-reference.mjs';
import { absent, startBackend } from '../../servers/backends.ts';
import { Kubenest } from '../../servers/kubenest.ts';
import { until } from '../../servers/until.ts';

const manager = findReference('kube-controller-manager');
const scheduler = findReference('kube-scheduler');
const backend = absent.redis === undefined ? 'redis' : 'etcd';
const obstacle =
  absent[backend] ??
  (manager === undefined || scheduler === undefined
    ? 'there is no kube-controller-manager or kube-scheduler: ../shared/reference/build.sh makes them'
    : undefined);

/** Upstream: leaderelectionconfig: the lease duration, a retry period with its jitter, and time for an election under load. */
const takeOverMs = 15_000 + 2.2 * 2_000 + 10_000;
/** Time for the work after a take-over: kube-controller-manager sends at most 20 requests a second. */
const workMs = 120_000;
const apps = ['a', 'b', 'c', 'd'];
const leases = ['kube-controller-manager', 'kube-scheduler'];

interface Pod {
  readonly metadata: { readonly uid: string; readonly labels: { readonly app: string } };
  readonly spec: { readonly nodeName?: string };
  readonly status: { readonly phase?: string };
}

/** The pods that a watch has reported, by uid. */
class PodHistory {
  readonly created = new Map<string, Pod>();
  readonly deleted = new Set<string>();

  /** Follows the pods of a server until it ends. */
  static async of(server: Kubenest): Promise<PodHistory> {
    const history = new PodHistory();
    const options = { rejectUnauthorized: false, agent: false, headers: { authorization: 'Bearer admin-token' } };
    const sent = get(`${server.url}/api/v1/namespaces/default/pods?watch=true&timeoutSeconds=3600`, options);
    const [response] = await once(sent, 'response');
    // The watch ends with the server.
    createInterface({ input: response })
      .on('line', (line) => history.#add(JSON.parse(line)))
      .on('error', () => {});
    return history;
  }

  #add({ type, object }: { readonly type: string; readonly object: Pod }): void {
    if (type === 'DELETED') this.deleted.add(object.metadata.uid);
    else this.created.set(object.metadata.uid, object);
  }

  /** The pods of an app that are not deleted. */
  present(app: string): readonly Pod[] {
    return [...this.created].filter(([uid, { metadata }]) => metadata.labels.app === app && !this.deleted.has(uid)).map(([, pod]) => pod);
  }

  running(app: string): number {
    return this.present(app).filter(({ status }) => status.phase === 'Running').length;
  }

  /** Numbers of pods that were ever created and deleted. */
  counts(app: string): { readonly created: number; readonly deleted: number } {
    const created = [...this.created.values()].filter(({ metadata }) => metadata.labels.app === app).length;
    return { created, deleted: created - this.present(app).length };
  }
}

async function holderOf(server: Kubenest, lease: string): Promise<string | undefined> {
  const { body } = await server.fetch(`/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${lease}`);
  return (body as { readonly spec?: { readonly holderIdentity?: string } }).spec?.holderIdentity || undefined;
}

/** Resolves once all leases have holders other than the given ones. */
async function othersThan(holders: readonly string[], server: Kubenest): Promise<readonly string[]> {
  const ask = (lease: string) => async (): Promise<string | undefined> => {
    const holder = await holderOf(server, lease);
    return holder !== undefined && holders.includes(holder) ? undefined : holder;
  };
  return Promise.all(leases.map((lease) => until(`another holder of ${lease}`, takeOverMs, ask(lease))));
}

async function deploy(server: Kubenest, app: string, replicas: number): Promise<void> {
  const labels = { app };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const body = { metadata: { name: app }, spec: { replicas, selector: { matchLabels: labels }, template } };
  expect((await server.fetch('/apis/apps/v1/namespaces/default/deployments', { body })).status).toBe(201);
}

async function scale(server: Kubenest, app: string, replicas: number): Promise<void> {
  const path = `/apis/apps/v1/namespaces/default/deployments/${app}/scale`;
  expect((await server.fetch(path, { method: 'PATCH', body: { spec: { replicas } } })).status).toBe(200);
}

/** Writes and lists until the signal aborts, as other clients do meanwhile. */
async function load(server: Kubenest, name: string, signal: AbortSignal): Promise<void> {
  const path = '/api/v1/namespaces/default/configmaps';
  await server.fetch(path, { body: { metadata: { name } } });
  for (let count = 0; !signal.aborted; count += 1) {
    await server.fetch(`${path}/${name}`, { method: 'PATCH', body: { data: { count: String(count) } } });
    await server.fetch('/api/v1/pods?limit=50');
  }
}

/** Number of keys that the controllers of a server have worked on. */
async function reconciles(server: Kubenest): Promise<number> {
  const { body } = await server.fetch('/metrics');
  const own = /^controller_runtime_reconcile_total\{.*controller="(deployment-controller|replicaset-controller|scheduler)".*\} (\d+)$/gm;
  return [...String(body).matchAll(own)].reduce((sum, [, , count]) => sum + Number(count), 0);
}

it.skipIf(obstacle !== undefined)(
  `real controllers take over from the own ones and the reverse, while deployments are scaled (${obstacle ?? backend})`,
  { timeout: 600_000 },
  async () => {
    await using resources = new AsyncDisposableStack();
    const folder = mkdtempSync(join(tmpdir(), 'kubenest-takeover-'));
    resources.defer(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 }));
    const { flags: stored } = resources.use(await startBackend(backend));
    const key = join(folder, 'sa.key');
    writeFileSync(key, generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ type: 'pkcs1', format: 'pem' }));
    const shared = [
      ...[...stored, `--service-account-key-file=${key}`, `--service-account-signing-key-file=${key}`],
      ...['--service-account-issuer=https://kubernetes.default.svc', '--authorization-mode=Node,RBAC'],
    ];
    const users = { manager: 'system:kube-controller-manager,manager', scheduler: 'system:kube-scheduler,scheduler' };
    const own = resources.use(await Kubenest.start(join(folder, 'own'), [...shared, '--controllers=*', '--nodes=3'], users));
    const plain = resources.use(await Kubenest.start(join(folder, 'plain'), shared, users));
    const start = (program: string, user: string, flags: readonly string[]): ChildProcess => {
      const config = plain.kubeconfig(user);
      const common = [`--kubeconfig=${config}`, `--authentication-kubeconfig=${config}`, `--authorization-kubeconfig=${config}`];
      const child = spawn(program, [...common, '--secure-port=0', '--leader-elect=true', ...flags], {
        stdio: ['ignore', 'ignore', 'pipe'],
      });
      child.stderr!.pipe(createWriteStream(join(folder, `${user}.log`)));
      resources.defer(() => kill(child));
      return child;
    };

    const ofOwn = await othersThan([], plain);
    const real = [
      start(manager!, 'manager', [`--service-account-private-key-file=${key}`, '--use-service-account-credentials=true']),
      start(scheduler!, 'scheduler', []),
    ];
    const history = await PodHistory.of(plain);
    const ending = new AbortController();
    const clients = ['one', 'two'].map((name) => load(plain, name, ending.signal));
    resources.defer(async () => {
      ending.abort();
      await Promise.allSettled(clients);
    });

    await Promise.all(apps.map((app) => deploy(plain, app, 2)));
    await until('the first pods', 30_000, () => apps.every((app) => history.running(app) === 2));
    await Promise.all(apps.map((app) => scale(plain, app, 40)));
    await until('the first pods of the scaling', 30_000, () => history.created.size > 20);
    await own.kill('SIGKILL');
    const before = history.created.size;
    expect(before, 'the own controllers are killed before they have ended').toBeLessThan(apps.length * 40);
    const ofReal = await othersThan(ofOwn, plain);

    await own.restart();
    await until('the pods of the real controllers', workMs, () => apps.every((app) => history.running(app) === 40));
    expect(apps.map((app) => history.counts(app))).toEqual(apps.map(() => ({ created: 40, deleted: 0 })));
    expect(await Promise.all(leases.map((lease) => holderOf(plain, lease)))).toEqual(ofReal);
    expect(await reconciles(own), 'the own controllers stand by').toBe(0);

    const [grown, shrunk] = [apps.slice(0, 2), apps.slice(2)];
    await Promise.all([...grown.map((app) => scale(plain, app, 80)), ...shrunk.map((app) => scale(plain, app, 5))]);
    const isMidway = (): boolean =>
      grown.some((app) => history.counts(app).created > 45) && shrunk.some((app) => history.counts(app).deleted > 2);
    await until('the first actions of the real controllers', workMs, () => isMidway());
    await Promise.all(real.map(kill));
    expect(history.created.size, 'the real controllers are killed before they have ended').toBeLessThan(
      40 * apps.length + 40 * grown.length,
    );
    const ofOwnAgain = await othersThan(ofReal, plain);
    expect(ofOwnAgain.every((holder) => !ofReal.includes(holder))).toBe(true);
    await until(
      'the pods of the own controllers',
      takeOverMs,
      () => grown.every((app) => history.running(app) === 80) && shrunk.every((app) => history.present(app).length === 5),
    );
    expect(await reconciles(own)).toBeGreaterThan(0);

    // Further actions would follow at once: both are idle otherwise.
    await sleep(3_000);
    expect(grown.map((app) => history.counts(app))).toEqual(grown.map(() => ({ created: 80, deleted: 0 })));
    expect(shrunk.map((app) => history.counts(app))).toEqual(shrunk.map(() => ({ created: 40, deleted: 35 })));
  },
);

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}
