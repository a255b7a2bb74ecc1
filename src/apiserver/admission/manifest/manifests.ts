/**
 * Objects of admissionregistration.k8s.io in files instead of the API. Upstream:
 * apiserver/pkg/admission/plugin/{webhook,policy}/manifest.
 */
import { type FSWatcher, watch } from 'node:fs';
import type { KubeObject } from '#apimachinery/meta/types';
import type { Logger } from '#apiserver/base/logger';
import type { ManifestCodec } from './manifest-codec.ts';
import { type ManifestFiles, readManifestFiles } from './manifest-files.ts';
import type { ManifestMetrics } from './manifest-metrics.ts';

/** Suffix of the names of objects in files, which other objects must not have. */
export const staticSuffix = '.static.k8s.io';
const pollMs = 60_000;

/** Rules of a plugin for its manifest folder. */
export interface ManifestRules<T> {
  /** Name of the plugin. */
  readonly plugin: string;
  /** Kind of the objects, for messages. */
  readonly what: 'webhook' | 'policy';
  /** Accepted kinds of admissionregistration.k8s.io/v1. */
  readonly kinds: readonly string[];
  /** Throws an Error for an object that is not allowed in a file. */
  check(object: KubeObject, file: string): void;
  /** Builds the plugin's configuration from objects sorted by name. Throws an Error for inconsistent objects. */
  build(objects: readonly KubeObject[]): T;
}

/** Current configuration from a folder. */
export interface ManifestSource<T> {
  readonly current: T;
  /** Calls the listener after each change. */
  subscribe(listener: () => void): void;
}

/** Reads manifests and watches their folders until the server shuts down. */
export interface Manifests {
  /**
   * Reads the manifests. Throws an Error in upstream's words for invalid files. Later errors are logged and counted; the last valid
   * configuration stays active.
   */
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

  /** Replaces the configuration. Returns false if the files are unchanged. */
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

/** Checks the suffix of a name and its uniqueness within the kind. */
function checkName({ kind, metadata: { name = '' } }: KubeObject, file: string, seen: Map<string, string>): void {
  const [text, place] = [JSON.stringify(name), JSON.stringify(file)];
  if (!name.endsWith(staticSuffix))
    throw new Error(`${text} in file ${place} must have a name ending with ${JSON.stringify(staticSuffix)}`);
  const key = `${kind}/${name}`;
  const before = seen.get(key);
  if (before !== undefined) throw new Error(`duplicate name ${text} found in file ${place} (previously seen in ${JSON.stringify(before)})`);
  seen.set(key, file);
}

/**
 * Calls `onChange` at each change of a folder, and once a minute, when the folder is watched again because another one may have
 * replaced it. Changes during a call cause one more call.
 */
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
      // The folder cannot be watched now; each poll logs the error when it reads the folder.
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
