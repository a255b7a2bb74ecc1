/** Measures how long lists of many objects, and watches that start with them, block the event loop, like event-loop.test.ts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { longestTurn } from './longest-turn.ts';

/** Limit in milliseconds; the lists take at most 25, to which garbage collection may add. */
const atMostMs = 100;
const count = 12_000;
const pods = '/api/v1/namespaces/default/pods';
const coreEvents = '/api/v1/namespaces/default/events';
const events = '/apis/events.k8s.io/v1/namespaces/default/events';

const pod = (i: number): object => ({
  metadata: { name: `pod-${i}`, labels: { app: 'a', shard: `s${i % 10}` }, annotations: { note: 'x'.repeat(500) } },
  spec: { nodeName: `node-${i % 100}`, automountServiceAccountToken: false, containers: [{ name: 'c', image: 'i' }] },
});
const event = (i: number): object => ({
  metadata: { name: `event-${i}` },
  involvedObject: { kind: 'Pod', namespace: 'default', name: `pod-${i}` },
  reason: 'Created',
  message: 'x'.repeat(500),
});

/** Maximum length of a mark. */
const markBytes = 20;

interface Row {
  readonly name: string;
  readonly path: string;
  readonly accept?: string;
  /** Number of objects in the response. */
  readonly shown?: number;
  /** Matches once in each object. */
  readonly mark?: RegExp;
}

const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

const lists: readonly Row[] = [
  { name: 'JSON', path: pods },
  { name: 'indented JSON', path: `${pods}?pretty=true` },
  { name: 'protobuf', path: pods, accept: 'application/vnd.kubernetes.protobuf', mark: /default-scheduler/g },
  { name: 'a table', path: pods, accept: table },
  { name: 'a sorted table', path: coreEvents, accept: table },
  { name: 'an indented table with its objects', path: `${pods}?includeObject=Object&pretty=true`, accept: table },
  { name: 'metadata', path: pods, accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' },
  { name: 'another version', path: events },
  { name: 'YAML', path: pods, accept: 'application/yaml' },
  { name: 'objects with a label', path: `${pods}?labelSelector=shard%3Ds3`, shown: count / 10 },
  { name: 'objects with a field value', path: `${pods}?fieldSelector=spec.schedulerName%3Ddefault-scheduler` },
  { name: 'objects on a node', path: `${pods}?fieldSelector=spec.nodeName%3Dnode-7`, shown: count / 100 },
];

/** Watches with a bookmark after the objects. */
const watches: readonly Row[] = [
  { name: 'JSON', path: pods },
  { name: 'protobuf', path: pods, accept: 'application/vnd.kubernetes.protobuf;stream=watch' },
  { name: 'a table', path: pods, accept: table },
  { name: 'another version', path: events },
  { name: 'objects with a label', path: `${pods}?labelSelector=shard%3Ds4`, shown: count / 10 },
];

describe(`a list of ${count} objects blocks other clients only briefly:`, () => {
  let cluster: TestCluster;
  beforeAll(async () => {
    cluster = await startTestCluster();
    const create = async (path: string, body: object): Promise<void> => {
      const response = await cluster.fetch(path, { body });
      expect(response.status).toBe(201);
      await response.arrayBuffer();
    };
    for (let first = 0; first < count; first += 100) {
      await Promise.all(
        Array.from({ length: 100 }, async (_, i) => {
          await create(pods, pod(first + i));
          await create(coreEvents, event(first + i));
        }),
      );
    }
  }, 120_000);
  afterAll(() => cluster[Symbol.asyncDispose]());

  /** Returns the longest turn of the work, which encodes the objects again in each attempt. */
  function longestTurnOf(work: () => Promise<void>): Promise<number> {
    return longestTurn(async (attempt) => {
      for (let i = 0; attempt > 0 && i < count; i += 50) {
        await patch(`${pods}/pod-${i}`, { metadata: { annotations: { again: String(attempt) } } });
        await patch(`${coreEvents}/event-${i}`, { metadata: { annotations: { again: String(attempt) } } });
      }
      await work();
    }, atMostMs);
  }

  async function patch(path: string, body: object): Promise<void> {
    const headers = { 'content-type': 'application/merge-patch+json' };
    const response = await cluster.fetch(path, { method: 'PATCH', headers, body: JSON.stringify(body) });
    expect(response.status).toBe(200);
    await response.arrayBuffer();
  }

  it.each(lists)('$name', { timeout: 120_000 }, async ({ path, accept = 'application/json', shown = count, mark = /"?uid"?:/g }) => {
    const turn = await longestTurnOf(async () => {
      const response = await cluster.fetch(path, { headers: { accept } });
      let seen = 0;
      let rest = '';
      for await (const piece of response.body!) {
        const text = rest + Buffer.from(piece).toString('latin1');
        seen += occurrences(text, mark);
        // Keeps the end of the text, which may contain a split mark; marks are shorter than this.
        rest = text.slice(-markBytes).replace(mark, '');
      }
      expect(seen).toBe(shown);
    });
    expect(turn).toBeLessThan(atMostMs);
  });

  it.each(watches)('a watch that begins with $name', { timeout: 120_000 }, async ({ path, accept = 'application/json', shown = count }) => {
    const query = 'watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=20';
    const turn = await longestTurnOf(async () => {
      const response = await cluster.fetch(`${path}${path.includes('?') ? '&' : '?'}${query}`, { headers: { accept } });
      let seen = 0;
      for await (const piece of response.body!) {
        const text = Buffer.from(piece).toString('latin1');
        seen += occurrences(text, /ADDED/g);
        if (text.includes('initial-events-end')) break;
      }
      expect(seen).toBe(shown);
    });
    expect(turn).toBeLessThan(atMostMs);
  });

  it('the deletion of all objects', { timeout: 120_000 }, async () => {
    const turn = await longestTurn(async () => {
      const response = await cluster.fetch(coreEvents, { method: 'DELETE' });
      expect(response.status).toBe(200);
      await response.arrayBuffer();
    });
    expect(turn).toBeLessThan(atMostMs);
    const left = await cluster.fetch(events);
    expect(await left.json()).toMatchObject({ items: [] });
  });
});

function occurrences(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}
