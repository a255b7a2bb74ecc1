import { createHash } from 'node:crypto';
import { hostname } from 'node:os';
import { dirname } from 'node:path';
import { Registry } from 'prom-client';
import type { Storage } from '#apiserver/storage/storage';
import { Scheme } from '#apiserver/registry/scheme';
import { makeFolder } from '#apiserver/base/make-folder';
import { apiGroups } from '#cmd/apis/api-groups';
import { openStorage } from '#cmd/storage/open-storage';
import { completeStorage } from '#cmd/options/complete';
import { readServerOptions } from '#cmd/options/read-server-options';
import { OptionsError } from '#cmd/options/options-error';
import type { StorageConfig } from '#cmd/server-config';
import type { EncryptionRule } from '#cmd/config/encryption-configuration';
import { Encryption } from '#cmd/storage/encryption';
import { newLog } from '#cmd/logging/log';
import { objectsIn, type StorageMediaType } from '#cmd/storage/object-forms';
import { apiServerId } from '#kubernetes/controlplane/identity-lease';
import { readSnapshot } from '#plugins/storage/embedded/snapshot';
import { readBackup, recordsOf, type ValueForm, writeBackup } from './backup-file.ts';
import { BackupStorage } from './backup-storage.ts';
import { copyObjects } from './copy-objects.ts';

interface Store {
  readonly config: StorageConfig;
  /** Rules of encryption; undefined: no encryption. */
  readonly rules: readonly EncryptionRule[] | undefined;
  readonly eventTtlSeconds: number;
}

interface Copied {
  readonly objects: number;
  readonly revision: number;
}

/** Assignment of revisions when objects are copied to another store. */
export interface RevisionRule {
  /**
   * Difference between the new revisions and those of the source; undefined: the default of docs/guide/backup.md. 'restart': revisions
   * restart, below those that clients know.
   */
  readonly bump?: number | 'restart' | undefined;
  /** Called with a progress message during a long operation. */
  readonly report?: ((progress: string) => void) | undefined;
}

/** Small, because the source of a migration is not written to, which is verified. */
const migrationBump = 10_000;
/**
 * Estimated number of writes between the backup and the end of the store: a minimum, and a rate per second. For stores that raise revisions
 * at no cost, the rate exceeds the writes of 5,000 nodes; etcd raises its revision by writes, about 9,000 per second.
 */
const restoreBumps = {
  free: { least: 1_000_000, perSecond: 1_000 },
  etcd: { least: 100_000, perSecond: 100 },
};

/** Writes the present state of the store that the flags name to a file. */
export async function backUp(file: string, flags: readonly string[]): Promise<{ readonly revision: number; readonly records: number }> {
  const { config } = await storeOf(flags);
  const source = config.backend === 'embedded' ? snapshotOf(config.file!) : await openStorage(config);
  try {
    return await writeBackup(file, source, formOf(config));
  } finally {
    await source.close();
  }
}

/** Writes the objects of a backup to the store that the flags name. The store's keys must be able to decrypt encrypted values. */
export async function restore(file: string, flags: readonly string[], { bump, report }: RevisionRule = {}): Promise<Copied> {
  const destination = await storeOf(flags);
  const backup = await readBackup(file);
  const { rules } = destination;
  const { least, perSecond } = restoreBumps[destination.config.backend === 'etcd' ? 'etcd' : 'free'];
  const age = Math.max(0, Math.ceil((Date.now() - backup.time.getTime()) / 1_000));
  return copyTo(destination, { bump: bump ?? least + perSecond * age, report }, (scheme) =>
    openObjects(new BackupStorage(backup), scheme, backup.form, rules),
  );
}

/** Copies the objects of one store to another. Rejects if the source was written to meanwhile. */
export async function migrate(from: readonly string[], to: readonly string[], { bump, report }: RevisionRule = {}): Promise<Copied> {
  const [source, destination] = [await storeOf(from), await storeOf(to)];
  const backend = await openStorage(source.config);
  try {
    const before = await fingerprint(backend);
    const copied = await copyTo(destination, { bump: bump ?? migrationBump, report }, (scheme) =>
      openObjects(backend, scheme, formOf(source.config), source.rules),
    );
    if ((await fingerprint(backend)) !== before)
      throw new Error(
        'the source changed during the migration, so the destination is incomplete: stop all servers and migrate to an empty store',
      );
    return copied;
  } finally {
    await backend.close();
  }
}

/**
 * Fingerprint of all keys and the revisions of their last writes. The store's own revision is unsuitable, because other data in the store
 * may change it.
 */
async function fingerprint(storage: Storage): Promise<string> {
  const hash = createHash('sha256');
  for await (const { key, revision } of recordsOf(storage, await storage.currentRevision())) hash.update(`${key}\0${revision}\0`);
  return hash.digest('hex');
}

async function copyTo(
  store: Store,
  rule: RevisionRule & { readonly bump: number | 'restart' },
  openSource: (scheme: Scheme) => Promise<Objects>,
): Promise<Copied> {
  const { config, rules, eventTtlSeconds } = store;
  const scheme = new Scheme();
  for (const builder of Object.values(apiGroups())) builder.addToScheme(scheme);
  if (config.backend === 'embedded') makeFolder(dirname(config.file!), 0o700);
  const backend = await openStorage(config);
  try {
    const mediaType = config.backend === 'etcd' ? config.mediaType : undefined;
    await using destination = await openObjects(backend, scheme, formOf(config), rules, mediaType);
    await using source = await openSource(scheme);
    return await copyObjects(source.storage, destination.storage, { scheme, eventTtlSeconds, ...rule });
  } finally {
    await backend.close();
  }
}

async function storeOf(flags: readonly string[]): Promise<Store> {
  const command = await readServerOptions(flags);
  if (!('options' in command)) throw new OptionsError(['only the flags of a store are valid; kubenest serve --help lists them']);
  const { options } = command;
  return { ...(await completeStorage(options)), eventTtlSeconds: Math.round(options.events.eventTtl / 1_000) };
}

function snapshotOf(file: string): BackupStorage {
  return new BackupStorage({ form: 'json', time: new Date(), ...readSnapshot(file) });
}

function formOf({ backend }: StorageConfig): ValueForm {
  return backend === 'etcd' ? 'kubernetes' : 'json';
}

/** Objects of a backend; disposing of them leaves the backend open. */
interface Objects extends AsyncDisposable {
  readonly storage: Storage;
}

async function openObjects(
  backend: Storage,
  scheme: Scheme,
  form: ValueForm,
  rules: readonly EncryptionRule[] | undefined,
  mediaType: StorageMediaType = 'application/vnd.kubernetes.protobuf',
): Promise<Objects> {
  const parts = { storage: backend, scheme, registry: new Registry(), log: newLog(0), apiServerId: apiServerId(hostname()) };
  const encryption = rules && (await Encryption.open(rules, parts));
  return {
    storage: objectsIn(encryption?.storage ?? backend, scheme, form === 'kubernetes' ? mediaType : undefined),
    async [Symbol.asyncDispose]() {
      await encryption?.[Symbol.asyncDispose]();
    },
  };
}
