/** Objects of admissionregistration.k8s.io that stand in files instead of the API. Upstream: apiserver/pkg/admission/plugin/{webhook,policy}/manifest. */
import { type FSWatcher, watch } from 'node:fs';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Logger } from '#apiserver/base/logger';
import type { ManifestCodec } from './manifest-codec.ts';
import { type ManifestFiles, readManifestFiles } from './manifest-files.ts';
import type { ManifestMetrics } from './manifest-metrics.ts';

/** Names of objects that stand in files end so, and no others. */
export const staticSuffix = '.static.k8s.io';
const pollMs = 60_000;

/** What a plugin takes of its folder. */
export interface ManifestRules<T> {
  /** The name of the plugin. */
  readonly plugin: string;
  /** What the folder has, as messages tell it. */
  readonly what: 'webhook' | 'policy';
  /** Of admissionregistration.k8s.io/v1. */
  readonly kinds: readonly string[];
  /** Throws an Error for an object that may not stand in a file. */
  check(object: KubeObject, file: string): void;
  /** Throws an Error for objects that do not go together. They are in the order of their names. */
  build(objects: readonly KubeObject[]): T;
}

/** What the files of a folder say now. */
export interface ManifestSource<T> {
  readonly current: T;
  /** Calls after each change. */
  subscribe(listener: () => void): void;
}

/** Reads manifests and follows their folders until the server shuts down. */
export interface Manifests {
  /** Throws an Error in upstream's words for files that cannot be taken. Later ones that cannot are logged and counted, and what was there before stays. */
  follow<T>(files: ManifestFiles, rules: ManifestRules<T>): ManifestSource<T>;
}

export const Manifests = Symbol.for('kubenest.Manifests');

export interface ManifestServices {
  readonly codec: ManifestCodec;
  readonly metrics: ManifestMetrics;
  readonly logger: Logger;
  readonly shutdown: AbortSignal;
}

export class ManifestFolders implements Manifests {
  constructor(readonly services: ManifestServices) {}

  follow<T>(files: ManifestFiles, rules: ManifestRules<T>): ManifestSource<T> {
    const { codec, metrics, logger, shutdown } = this.services;
    const { folder } = files;
    const { plugin } = rules;
    let source: FollowedFolder<T>;
    try {
      source = new FollowedFolder(files, (next) => read(codec, next, rules));
    } catch (error) {
      const reason = (error as Error).message;
      throw new Error(`failed to load static ${rules.what} manifests from ${JSON.stringify(folder)}: ${reason}`, { cause: error });
    }
    metrics.succeeded(plugin, files.hash);
    const reload = async (): Promise<void> => {
      try {
        const next = await readManifestFiles(folder);
        if (shutdown.aborted || !source.replace(next)) return;
        logger.info({ plugin, folder }, 'reloaded admission manifest config');
        metrics.succeeded(plugin, next.hash);
      } catch (error) {
        logger.error({ plugin, folder, error: (error as Error).message }, 'reloading admission manifest config');
        metrics.failed(plugin);
      }
    };
    watchFolder(folder, reload, shutdown);
    return source;
  }
}

class FollowedFolder<T> implements ManifestSource<T> {
  readonly #read: (files: ManifestFiles) => T;
  readonly #listeners: (() => void)[] = [];
  #hash: string;
  #current: T;

  constructor(files: ManifestFiles, read: (files: ManifestFiles) => T) {
    this.#read = read;
    this.#hash = files.hash;
    this.#current = read(files);
  }

  get current(): T {
    return this.#current;
  }

  subscribe(listener: () => void): void {
    this.#listeners.push(listener);
  }

  /** Whether the files are other ones than before. */
  replace(files: ManifestFiles): boolean {
    if (files.hash === this.#hash) return false;
    this.#current = this.#read(files);
    this.#hash = files.hash;
    for (const listener of this.#listeners) listener();
    return true;
  }
}

function read<T>(codec: ManifestCodec, { documents }: ManifestFiles, rules: ManifestRules<T>): T {
  const objects: KubeObject[] = [];
  const seen = new Map<string, string>();
  for (const { file, bytes } of documents) {
    try {
      for (const object of codec.read(bytes, rules.kinds)) {
        checkName(object, file, seen);
        rules.check(object, file);
        objects.push(object);
      }
    } catch (error) {
      throw new Error(`error loading ${file}: ${(error as Error).message}`, { cause: error });
    }
  }
  return rules.build(objects.sort((a, b) => ((a.metadata.name ?? '') < (b.metadata.name ?? '') ? -1 : 1)));
}

/** Names are unique within their kind. */
function checkName({ kind, metadata: { name = '' } }: KubeObject, file: string, seen: Map<string, string>): void {
  const [text, place] = [JSON.stringify(name), JSON.stringify(file)];
  if (!name.endsWith(staticSuffix))
    throw new Error(`${text} in file ${place} must have a name ending with ${JSON.stringify(staticSuffix)}`);
  const key = `${kind}/${name}`;
  const before = seen.get(key);
  if (before !== undefined) throw new Error(`duplicate name ${text} found in file ${place} (previously seen in ${JSON.stringify(before)})`);
  seen.set(key, file);
}

/** Calls at each change of a folder, and once a minute: what is watched is then looked for anew, because another folder may have its name. Changes during a call bring one more. */
function watchFolder(folder: string, onChange: () => Promise<void>, shutdown: AbortSignal): void {
  let watcher: FSWatcher | undefined;
  let pending = 0;
  const call = async (): Promise<void> => {
    pending = Math.min(pending + 1, 2);
    if (pending > 1) return;
    for (; pending > 0 && !shutdown.aborted; pending -= 1) await onChange();
  };
  const open = (): void => {
    watcher?.close();
    watcher = undefined;
    try {
      watcher = watch(folder, { persistent: false }, () => void call());
      watcher.on('error', () => watcher?.close());
    } catch {
      // There is nothing to watch now: reading it tells why, at each poll.
    }
    void call();
  };
  open();
  const timer = setInterval(open, pollMs).unref();
  shutdown.addEventListener(
    'abort',
    () => {
      clearInterval(timer);
      watcher?.close();
    },
    { once: true },
  );
}
