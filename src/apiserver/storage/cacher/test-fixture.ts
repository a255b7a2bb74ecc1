import { Buffer } from 'node:buffer';
import type { KubeObject } from '#apimachinery/meta/types';
import type { FakeStorage } from '../fake-storage.ts';
import type { Encode, Revision } from '../storage.ts';
import type { CachedObject, ObjectReader } from './cached-object.ts';
import { Cacher, type CacherOptions } from './cacher.ts';
import type { CacheList } from './list-query.ts';
import type { Predicate } from './predicate.ts';
import type { WatchEvent } from './watch-event.ts';
import type { WatchEnd, WatchSink } from './watcher.ts';

/** A sink that records events as text: `ADDED a 5`, `BOOKMARK 7`, `BOOKMARK 7 end`, `ERROR 410 Expired: message`. */
export class RecordingSink implements WatchSink {
  readonly events: WatchEvent[] = [];
  ended: WatchEnd | undefined;
  /** Number of buffered bytes that it reports. */
  buffered = 0;
  /** Number added to `buffered` for each event. */
  bytesPerEvent = 0;

  send(event: WatchEvent): void {
    this.events.push(event);
    this.buffered += this.bytesPerEvent;
  }

  bufferedBytes(): number {
    return this.buffered;
  }

  end(reason: WatchEnd): void {
    this.ended = reason;
  }

  get log(): string[] {
    return this.events.map((event) => {
      if (event.type === 'ERROR') return `ERROR ${event.status.code} ${event.status.reason}: ${event.status.message}`;
      if (event.type === 'BOOKMARK') return `BOOKMARK ${event.revision}${event.initialEventsEnd ? ' end' : ''}`;
      return `${event.type} ${event.object.object.metadata.name} ${event.object.object.metadata.resourceVersion}`;
    });
  }

  /** Returns the events since the last call. */
  take(): string[] {
    const log = this.log;
    this.events.length = 0;
    return log;
  }
}

export interface PodFields {
  readonly labels?: Record<string, string>;
  readonly nodeName?: string;
  readonly padding?: number;
}

/** Encodes a pod with the name and namespace of its key. */
export function pod(key: string, { labels, nodeName, padding }: PodFields = {}): Encode {
  const [, , namespace, name] = key.split('/');
  return (revision) =>
    Buffer.from(
      JSON.stringify({
        kind: 'Pod',
        apiVersion: 'v1',
        metadata: { name, namespace, resourceVersion: String(revision), labels },
        spec: { nodeName, padding: padding ? 'x'.repeat(padding) : undefined },
      }),
    );
}

/** Creates or updates a key. */
export async function put(storage: FakeStorage, key: string, fields: PodFields = {}): Promise<Revision> {
  const present = await storage.get(key);
  const write = present ? storage.update(key, present.revision, pod(key, fields)) : storage.create(key, pod(key, fields));
  return (await write).revision;
}

export async function remove(storage: FakeStorage, key: string): Promise<Revision> {
  return (await storage.delete(key, (await storage.get(key))!.revision)).revision;
}

export function newCacher(storage: FakeStorage, options: Partial<CacherOptions> = {}): Cacher {
  return new Cacher({
    storage,
    prefix: '/pods/',
    indexed: ['spec.nodeName'],
    random: () => 0,
    parse: (bytes) => JSON.parse(bytes.toString()) as KubeObject,
    fields: (object) => ({
      'metadata.name': object.metadata.name ?? '',
      'metadata.namespace': object.metadata.namespace ?? '',
      'spec.nodeName': (object['spec'] as { nodeName?: string }).nodeName ?? '',
    }),
    ...options,
  });
}

export function label(name: string, value: string): Predicate {
  return { key: `${name}=${value}`, isEmpty: false, matches: (object) => object.labelsOf([name])[name] === value };
}

export function onNode(nodeName: string): Predicate {
  return {
    key: `spec.nodeName=${nodeName}`,
    isEmpty: false,
    exactField: { field: 'spec.nodeName', value: nodeName },
    matches: (object) => object.fields['spec.nodeName'] === nodeName,
  };
}

export function named(name: string): Predicate {
  return { key: `metadata.name=${name}`, isEmpty: false, exactName: name, matches: (object) => object.fields['metadata.name'] === name };
}

export function objectsOf(list: CacheList): CachedObject[] {
  return list.chunks.flatMap((chunk) => [...chunk.items]);
}

/** Formats a list as names and versions: `a:5 b:7`. */
export function show(list: CacheList): string {
  return objectsOf(list)
    .map(({ object: { metadata } }) => `${metadata.name}:${metadata.resourceVersion}`)
    .join(' ');
}

/** A reader that ignores the stored bytes. */
export const emptyReader: ObjectReader = {
  parse: () => ({ apiVersion: 'v1', kind: 'Pod', metadata: {} }),
  parseSteps: () => {
    throw new Error('objects of this reader are not parsed in chunks');
  },
  fields: () => ({}),
  fieldPaths: new Set(),
};
