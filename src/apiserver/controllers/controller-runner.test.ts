import type { KubeObject } from '#apimachinery/meta/types';
import { FakeClock, turn } from '#apiserver/base/fake-clock';
import type { Informer, SubscriptionProgress } from '#apiserver/registry/informers';
import { describe, expect, it } from 'vitest';
import { LateRequestQueue } from './request-queue.ts';
import {
  type ControllerOptions,
  generationChanged,
  type ReconcileContext,
  type Reconciler,
  type ReconcileRequest,
  Watches,
} from './controller.ts';
import type { ControllerMetrics } from './controller-metrics.ts';
import { ControllerRunner } from './controller-runner.ts';
import { CachedSharedInformers, TakenInformers } from './shared-informer.ts';

const sets = { group: 'apps', version: 'v1', resource: 'replicasets', kind: 'ReplicaSet' } as const;
const pods = { group: '', resource: 'pods' };

/** Informers whose events the test sends. */
class Sources {
  readonly #listeners = new Map<string, { send: Parameters<Informer['subscribe']>[0]; progress: SubscriptionProgress }>();

  late<T extends KubeObject>({ resource }: { resource: string }): Informer<T> {
    return {
      get: () => undefined,
      list: () => [],
      subscribe: (send, progress = {}) => {
        this.#listeners.set(resource, { send: send as Parameters<Informer['subscribe']>[0], progress });
        return { [Symbol.dispose]: () => {} };
      },
    };
  }

  send(resource: string, type: 'ADDED' | 'MODIFIED' | 'DELETED', object: KubeObject): void {
    this.#listeners.get(resource)?.send(type, object);
  }

  synced(): void {
    for (const { progress } of this.#listeners.values()) progress.synced?.();
  }
}

const object = (name: string, metadata: object = {}, namespace = 'ns'): KubeObject => ({
  apiVersion: 'v1',
  kind: 'X',
  metadata: { namespace, name, uid: name, resourceVersion: `${(version += 1)}`, ...metadata },
});
let version = 0;

interface Harness {
  readonly clock: FakeClock;
  readonly sources: Sources;
  readonly errors: string[];
  readonly outcomes: string[];
  readonly ended: Promise<void>;
  stop(): void;
}

async function start(controller: Reconciler, options: Partial<ControllerOptions> = {}, requests?: LateRequestQueue): Promise<Harness> {
  const clock = new FakeClock();
  const sources = new Sources();
  const errors: string[] = [];
  const outcomes: string[] = [];
  const log = (fields: object): void => void errors.push((fields as { reason: string }).reason);
  const metrics: Pick<ControllerMetrics, 'queue' | 'reconciles'> = {
    queue: () => ({ added() {}, dropped() {}, started() {}, finished() {}, retried() {} }),
    reconciles: () => ({ started() {}, finished: (outcome) => void outcomes.push(outcome) }),
  };
  const end = new AbortController();
  const runner = new ControllerRunner({
    options: { name: 'test', for: sets, ...options },
    controller,
    requests,
    informers: new TakenInformers(new CachedSharedInformers(sources, (error) => errors.push(String(error)))),
    metrics: metrics as ControllerMetrics,
    clock,
    logger: { info: log, warn: log, error: log },
  });
  const ended = runner.run(end.signal);
  await turn();
  return { clock, sources, errors, outcomes, ended, stop: () => end.abort() };
}

const recording = (
  result?: (request: ReconcileRequest, context: ReconcileContext) => unknown,
): Reconciler & { readonly seen: string[] } => {
  const seen: string[] = [];
  return {
    seen,
    async reconcile(request, context) {
      seen.push(`${request.namespace}/${request.name}`);
      return ((await result?.(request, context)) ?? {}) as object;
    },
  };
};

it('waits for a resource that is not served yet, and reports it', async () => {
  const controller = recording();
  const { clock, sources, errors, stop, ended } = await start(controller);
  sources.send('replicasets', 'ADDED', object('a'));
  await clock.advance(4_999);
  await turn();
  expect([errors, controller.seen]).toEqual([[], []]);
  await clock.advance(1);
  await turn();
  expect(errors).toEqual(['replicasets.apps: not served yet']);
  sources.synced();
  await turn();
  expect(controller.seen).toEqual(['ns/a']);
  stop();
  await ended;
});

it('reconciles nothing before the informers are synced, then each object once', async () => {
  const controller = recording();
  const { sources, stop, ended } = await start(controller);
  sources.send('replicasets', 'ADDED', object('a'));
  sources.send('replicasets', 'MODIFIED', object('a'));
  await turn();
  expect(controller.seen).toEqual([]);
  sources.synced();
  await turn();
  expect(controller.seen).toEqual(['ns/a']);
  stop();
  await ended;
});

it('reconciles the controlling objects of owned objects, the old one too, and what @Watches methods return', async () => {
  const reference = (name: string, kind = 'ReplicaSet', apiVersion = 'apps/v1'): object => ({
    ownerReferences: [{ apiVersion, kind, name, uid: name, controller: true }],
  });
  class Watching {
    readonly seen: string[] = [];
    readonly prefix = 'of-';

    async reconcile({ namespace, name }: ReconcileRequest): Promise<void> {
      this.seen.push(`${namespace}/${name}`);
    }

    @Watches({ group: '', resource: 'nodes' })
    *ofNode({ metadata }: KubeObject): Iterable<ReconcileRequest> {
      yield { namespace: '', name: `${this.prefix}${metadata.name}` };
    }
  }
  const controller = new Watching();
  const { sources, stop, ended } = await start(controller, { owns: [pods] });
  sources.synced();
  sources.send('pods', 'ADDED', object('p', reference('a')));
  sources.send('pods', 'ADDED', object('q', reference('d', 'Deployment')));
  sources.send('pods', 'ADDED', object('r', reference('e', 'ReplicaSet', 'other/v1')));
  sources.send('nodes', 'ADDED', object('n', {}, ''));
  await turn();
  expect(controller.seen).toEqual(['ns/a', '/of-n']);
  sources.send('pods', 'MODIFIED', object('p', reference('b')));
  await turn();
  expect(controller.seen.slice(2)).toEqual(['ns/b', 'ns/a']);
  stop();
  await ended;
});

it('ignores the changes that its filter does not let through', async () => {
  const controller = recording();
  const { sources, stop, ended } = await start(controller, { filter: generationChanged });
  sources.synced();
  sources.send('replicasets', 'ADDED', object('a', { generation: 1 }));
  await turn();
  sources.send('replicasets', 'MODIFIED', object('a', { generation: 1 }));
  await turn();
  expect(controller.seen).toHaveLength(1);
  sources.send('replicasets', 'MODIFIED', object('a', { generation: 2 }));
  await turn();
  expect(controller.seen).toHaveLength(2);
  stop();
  await ended;
});

it('takes requests from the controller itself while it runs', async () => {
  const controller = recording();
  const requests = new LateRequestQueue();
  const { sources, stop, ended } = await start(controller, {}, requests);
  sources.synced();
  requests.add({ namespace: 'ns', name: 'a' });
  await turn();
  expect(controller.seen).toEqual(['ns/a']);
  stop();
  await ended;
  requests.add({ namespace: 'ns', name: 'b' });
  await turn();
  expect(controller.seen).toHaveLength(1);
});

it('retries a failure with a growing delay, and reports it', async () => {
  let failures = 0;
  const retries: number[] = [];
  const controller = recording((_, context) => {
    retries.push(context.retries);
    if (failures++ < 2) throw new Error('not yet');
  });
  const { clock, sources, errors, outcomes, stop, ended } = await start(controller);
  sources.synced();
  sources.send('replicasets', 'ADDED', object('a'));
  await clock.advance(100);
  expect(controller.seen).toHaveLength(3);
  expect(retries).toEqual([0, 1, 2]);
  expect(errors).toEqual(['not yet', 'not yet']);
  expect(outcomes).toEqual(['error', 'error', 'success']);
  stop();
  await ended;
});

it('logs a reconcile that blocks the process before its first await', async () => {
  let spin = (): void => {};
  const controller = recording(({ name }) => {
    if (name === 'slow') spin();
  });
  const { clock, sources, errors, stop, ended } = await start(controller);
  spin = () => {
    const end = clock.now() + 750;
    clock.now = () => end;
  };
  sources.synced();
  for (const name of ['a', 'slow', 'b']) sources.send('replicasets', 'ADDED', object(name));
  await turn();
  expect(controller.seen).toHaveLength(3);
  expect(errors).toEqual(['no await for 750 ms']);
  stop();
  await ended;
});

it('reconciles again after the requested time', async () => {
  const controller = recording(() => ({ requeueAfterMs: 5_000 }));
  const { clock, sources, stop, ended } = await start(controller);
  sources.synced();
  sources.send('replicasets', 'ADDED', object('a'));
  await clock.advance(4_000);
  expect(controller.seen).toHaveLength(1);
  await clock.advance(2_000);
  expect(controller.seen).toHaveLength(2);
  stop();
  await ended;
});

describe('a reconcile that does not end', () => {
  it('fails after its timeout, keeps its object, and leaves the worker to others', async () => {
    let aborted = false;
    let end = (): void => {};
    const controller = recording(({ name }, { signal }) => {
      if (name !== 'hangs') return;
      signal.addEventListener('abort', () => {
        aborted = true;
      });
      return new Promise<void>((resolve) => {
        end = resolve;
      });
    });
    const { clock, sources, errors, stop, ended } = await start(controller, { timeoutMs: 1_000 });
    sources.synced();
    sources.send('replicasets', 'ADDED', object('hangs'));
    await turn();
    sources.send('replicasets', 'ADDED', object('b'));
    await clock.advance(900);
    expect(controller.seen).toEqual(['ns/hangs']);
    await clock.advance(5_000);
    expect(aborted).toBe(true);
    expect(errors).toEqual(['no result within 1000 ms']);
    // It runs once for the hanging object, however often it is queued.
    expect(controller.seen).toEqual(['ns/hangs', 'ns/b']);
    end();
    await clock.advance(1);
    expect(controller.seen).toEqual(['ns/hangs', 'ns/b', 'ns/hangs']);
    end();
    stop();
    await ended;
  });

  it('does not delay others if there is another worker', async () => {
    const controller = recording(({ name }) => (name === 'hangs' ? new Promise(() => {}) : undefined));
    const { sources } = await start(controller, { concurrency: 2 });
    sources.synced();
    for (const name of ['hangs', 'b', 'c']) sources.send('replicasets', 'ADDED', object(name));
    await turn();
    expect(controller.seen).toEqual(['ns/hangs', 'ns/b', 'ns/c']);
  });
});

it('ends when the signal aborts: after the reconciles in progress', async () => {
  let finish = (): void => {};
  const controller = recording(
    () =>
      new Promise<void>((resolve) => {
        finish = resolve;
      }),
  );
  const { sources, stop, ended } = await start(controller);
  sources.synced();
  sources.send('replicasets', 'ADDED', object('a'));
  sources.send('replicasets', 'ADDED', object('b'));
  await turn();
  stop();
  let isOver = false;
  const over = ended.then(() => {
    isOver = true;
  });
  await turn();
  expect(isOver).toBe(false);
  finish();
  await over;
  expect(controller.seen).toEqual(['ns/a']);
});

it('runs `run` until it ends, and logs its failure', async () => {
  const { errors, sources, stop, ended } = await start({
    run: async () => {
      throw new Error('broken');
    },
  });
  sources.synced();
  await turn();
  expect(errors).toEqual(['broken']);
  stop();
  await ended;
});
