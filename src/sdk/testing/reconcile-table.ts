import assert from 'node:assert/strict';
import type { KubeObject } from '#apimachinery/meta/types';
import { describe as described } from '#apiserver/base/contribution';
import { FakeClock } from '#apiserver/base/fake-clock';
import type { ControllerClass, Reconciler, ReconcileRequest, ReconcileResult } from '#apiserver/controllers/controller';
import { ControllerClient } from '#apiserver/controllers/controller-client';
import { EventRecorder } from '#apiserver/controllers/event-recorder';
import { ConfigMapStore, KeyValueStore } from '#apiserver/controllers/key-value-store';
import { RequestQueue } from '#apiserver/controllers/request-queue';
import { SharedInformers } from '#apiserver/controllers/shared-informer';
import { newPlugin } from '#apiserver/plugins/new-plugin';
import { newServiceContainer, type PluginServices } from '#apiserver/plugins/plugin-services';
import { readPluginConfiguration } from '#apiserver/plugins/read-configuration';
import { assertMatches } from './assert-matches.ts';
import { FakeCluster, type RecordedEvent } from './fake-cluster.ts';
import { fakeServices } from './fake-services.ts';
import { runner } from './runner.ts';

/** One reconcile and what it must do. */
export interface ReconcileRow {
  readonly name: string;
  /** Objects that exist, by `resource.group` (`configmaps`, `deployments.apps`). */
  readonly objects?: Readonly<Record<string, readonly KubeObject[]>>;
  /** `namespace/name` of the object to reconcile; only `name` if it is cluster-scoped. */
  readonly request: string;
  /** Expected writes, in order: `create configmaps ns/name`, `update teams.example.com/status shop`. Default: none. */
  readonly writes?: readonly string[];
  /** Members that objects must have afterwards, by `resource.group` and then `namespace/name`; undefined: the object must not exist. */
  readonly want?: Readonly<Record<string, Readonly<Record<string, object | undefined>>>>;
  /** Expected events. Default: none. */
  readonly events?: readonly RecordedEvent[];
  /** Expected result. Default: not checked. */
  readonly result?: ReconcileResult;
  /** Pattern of the message of the error that the reconcile fails with. */
  readonly fails?: RegExp;
}

/** Services that the controller under test gets by injection; the others are those of `fakeServices`. */
export interface ReconcileTableOptions extends Partial<PluginServices> {
  readonly configuration?: object;
}

/**
 * Runs a controller over a table, each row with a cluster of its own in memory (see FakeCluster). Each row becomes a test of the runner
 * that runs the file, vitest or `node --test`.
 */
export function reconcileTable(controller: ControllerClass, rows: readonly ReconcileRow[], options: ReconcileTableOptions = {}): void {
  void runner.describe(controller.name, () => {
    for (const row of rows) void runner.it(row.name, () => runRow(controller, row, options));
  });
}

async function runRow(controller: ControllerClass, row: ReconcileRow, options: ReconcileTableOptions): Promise<void> {
  const cluster = new FakeCluster(row.objects);
  const instance = newInstance(controller, cluster, options);
  const context = { signal: new AbortController().signal, retries: 0 };
  const reconcile = async (): Promise<ReconcileResult> => (await instance.reconcile?.(requestOf(row.request), context)) ?? {};
  if (row.fails) {
    const { fails } = row;
    await assert.rejects(reconcile, (error) => {
      assert.match((error as Error).message, fails);
      return true;
    });
  } else {
    const result = await reconcile();
    if (row.result) assert.deepEqual(result, row.result);
  }
  const writes = cluster.writes.map(
    ({ verb, resource, namespace, name }) => `${verb} ${resource} ${namespace ? `${namespace}/${name}` : name}`,
  );
  assert.deepEqual(writes, row.writes ?? []);
  assert.deepEqual(cluster.events, row.events ?? []);
  for (const [resource, objects] of Object.entries(row.want ?? {})) {
    for (const [key, want] of Object.entries(objects)) {
      const { namespace, name } = requestOf(key);
      const stored = cluster.stored(resource, namespace, name);
      if (want) assertMatches(want, stored, `${resource} ${key}`);
      else assert.equal(stored, undefined, `${resource} ${key} exists`);
    }
  }
}

function newInstance(controller: ControllerClass, cluster: FakeCluster, { configuration, ...services }: ReconcileTableOptions): Reconciler {
  const description = described(controller);
  if (description?.kind !== 'Controller') throw new Error(`${controller.name} is not decorated with @Controller`);
  const { name } = description.options;
  const values = new Map<symbol, object>([
    [ControllerClient, cluster],
    [SharedInformers, cluster.informers],
    [EventRecorder, cluster],
    [RequestQueue, { add: () => {} }],
    [KeyValueStore, new ConfigMapStore(cluster, name)],
  ]);
  const own = { values, configuration: readPluginConfiguration(description.options, configuration) };
  return newPlugin<Reconciler>(newServiceContainer(fakeServices({ clock: new FakeClock(), ...services })), name, controller, own);
}

function requestOf(key: string): ReconcileRequest {
  const slash = key.indexOf('/');
  return { namespace: slash < 0 ? '' : key.slice(0, slash), name: key.slice(slash + 1) };
}
