import {
  Clock,
  Controller,
  ControllerClient,
  formatTime,
  inject,
  isConflict,
  type KubeObject,
  parseTime,
  type ReconcileContext,
  type ReconcileRequest,
  type ReconcileResult,
  type ServedResource,
  servedResources,
  type SharedInformer,
  SharedInformers,
  StatusError,
  Watches,
} from 'kubenest/sdk';
import type { StorageVersionMigration, StorageVersionMigrationStatus } from 'kubenest/types/storagemigration_v1beta1';
import { asManager } from '../common/as-manager.ts';
import { CustomResourceMigration } from './custom-resources.ts';
import { completed, hasCondition, hasEnded, isNext, isOfSameResource, migrations, withTrue } from './migrations.ts';

const fieldManager = 'storage-version-migrator-controller';
/** Time in which a resource may appear after the creation of its migration. */
const appearMs = 60_000;
const neededVerbs = ['update', 'patch', 'list'];
/** A namespace that cannot exist, in which a list is empty. */
const noNamespace = '@fake:svm_ns!';
/** Codes and reasons of failures that are worth another attempt. Upstream: isRetriableError. */
const retriable = ['ServerTimeout', 'TooManyRequests', 'ServiceUnavailable', 'InternalError', 'Timeout'];

/**
 * Writes the objects of a resource again, so that all are stored in its storage version. Each step of a migration is a change of its
 * status, which leads to the next one. Upstream: pkg/controller/storageversionmigrator.
 */
@Controller({
  name: 'storage-version-migrator-controller',
  for: migrations,
  featureGate: 'StorageVersionMigrator',
  concurrency: 5,
  timeoutMs: 3_600_000,
  ...asManager,
})
export class StorageVersionMigratorController {
  readonly #migrations: SharedInformer<StorageVersionMigration>;
  readonly #customResources: CustomResourceMigration;

  constructor(
    @inject(ControllerClient) private readonly client: ControllerClient,
    @inject(SharedInformers) informers: SharedInformers,
    @inject(Clock) private readonly clock: Clock,
  ) {
    this.#migrations = informers.for<StorageVersionMigration>(migrations);
    this.#customResources = new CustomResourceMigration(client, () => this.#now());
  }

  /** The migrations that may be next. */
  @Watches(migrations)
  *requestsOfSameResource(object: StorageVersionMigration): Iterable<ReconcileRequest> {
    for (const other of this.#migrations.list()) {
      const isWaiting = !hasEnded(other) && isOfSameResource(other, object);
      if (isWaiting) yield { namespace: '', name: other.metadata.name ?? '' };
    }
  }

  async reconcile({ name }: ReconcileRequest, { signal }: ReconcileContext): Promise<ReconcileResult> {
    const migration = this.#migrations.get('', name);
    if (!migration) return {};
    try {
      return await this.#step(migration, signal);
    } catch (error) {
      if (isConflict(error)) return { requeue: true };
      throw error;
    }
  }

  async #step(migration: StorageVersionMigration, signal: AbortSignal): Promise<ReconcileResult> {
    const { group = '', resource = '' } = migration.spec?.resource ?? {};
    const definition = `${resource}.${group}`;
    if (hasEnded(migration)) {
      if (!hasCondition(migration, 'Running')) return {};
      await this.#customResources.end(definition, hasCondition(migration, 'Succeeded'));
      await this.#write(migration, completed(migration, this.#now()));
    } else if (!hasCondition(migration, 'Running')) {
      if (!isNext(migration, this.#migrations.list())) return {};
      await this.#customResources.begin(definition, migration.metadata.name ?? '');
      const reason = { reason: 'MigrationRunning', message: 'The migration is running', now: this.#now() };
      await this.#write(migration, withTrue(migration, 'Running', reason));
    } else {
      return this.#run(migration, signal);
    }
    return {};
  }

  async #run(migration: StorageVersionMigration, signal: AbortSignal): Promise<ReconcileResult> {
    const { group = '', resource = '' } = migration.spec?.resource ?? {};
    const { resources } = await servedResources(this.client);
    const served = resources.find((one) => one.group === group && one.resource === resource);
    const checkpoint = migration.status?.resourceVersion;
    if (!served) {
      const ageMs = this.clock.wallTime() - parseTime(migration.metadata.creationTimestamp ?? '');
      if (ageMs < appearMs) return { requeue: true };
      await this.#fail(migration, checkpoint ? unhandled('unable to obtain GVR from discovery') : 'resource does not exist in discovery');
    } else if (checkpoint) {
      await this.#migrate(migration, served, BigInt(checkpoint), signal);
    } else if (!neededVerbs.every((verb) => served.verbs.includes(verb))) {
      const text = JSON.stringify(`${group}/${served.version}, Resource=${resource}`);
      await this.#fail(migration, `resource ${text} does not support discovery operations: [${neededVerbs.join(' ')}]`);
    } else {
      await this.#write(migration, { ...migration.status, resourceVersion: await this.#latestVersion(served) });
    }
    return {};
  }

  /** Returns the revision of the store. */
  async #latestVersion({ group, version, resource, namespaced }: ServedResource): Promise<string> {
    const root = group ? `/apis/${group}/${version}` : `/api/${version}`;
    const parent = namespaced ? `${root}/namespaces/${encodeURIComponent(noNamespace)}` : root;
    const list = await this.client.read<{ readonly metadata: { readonly resourceVersion: string } }>(`${parent}/${resource}?limit=1`);
    return list.metadata.resourceVersion;
  }

  /** Writes each object that was not written since the checkpoint. */
  async #migrate(migration: StorageVersionMigration, served: ServedResource, checkpoint: bigint, signal: AbortSignal): Promise<void> {
    for (const object of await this.client.list(served, '')) {
      signal.throwIfAborted();
      if (BigInt(object.metadata.resourceVersion ?? '0') > checkpoint) continue;
      try {
        await this.#rewrite(served, object);
      } catch (error) {
        if (!(error instanceof StatusError) || retriable.includes(error.status.reason ?? '')) throw error;
        return this.#fail(migration, unhandled(error.message));
      }
    }
    const reason = { reason: 'StorageVersionMigrationSucceeded', message: '', now: this.#now() };
    await this.#write(migration, withTrue(migration, 'Succeeded', reason));
  }

  /** An empty apply: it changes nothing, but stores the object in the storage version. After a conflict, another writer has done that. */
  async #rewrite(served: ServedResource, { metadata }: KubeObject): Promise<void> {
    const { name, namespace, uid, resourceVersion } = metadata;
    const apiVersion = served.group ? `${served.group}/${served.version}` : served.version;
    const empty = { apiVersion, kind: served.kind, metadata: { name, ...(namespace && { namespace }), uid, resourceVersion } };
    try {
      await this.client.apply(served, empty as KubeObject, { fieldManager });
    } catch (error) {
      if (!isConflict(error)) throw error;
    }
  }

  async #fail(migration: StorageVersionMigration, message: string): Promise<void> {
    await this.#write(migration, withTrue(migration, 'Failed', { reason: 'StorageVersionMigrationFailed', message, now: this.#now() }));
  }

  async #write(migration: StorageVersionMigration, status: StorageVersionMigrationStatus): Promise<void> {
    await this.client.replace({ ...migrations, subresource: 'status' }, { ...migration, status });
  }

  #now(): string {
    return formatTime(this.clock.wallTime());
  }
}

function unhandled(message: string): string {
  return `migration encountered unhandled error: ${message}`;
}
