import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestCluster, type TestCluster } from '#testing/index';
import { customKinds, type Json } from './custom-kinds.ts';

const count = 60;
const groups = 10;
const groupOf = (i: number) => `many${i % groups}.test.dev`;
const aggregated = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

function definition(i: number): Json {
  const fields = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`field${n}`, { type: 'string', default: 'x' }]));
  const openAPIV3Schema = { type: 'object', properties: { spec: { type: 'object', properties: fields } } };
  return {
    metadata: { name: `things${i}.${groupOf(i)}` },
    spec: {
      group: groupOf(i),
      scope: 'Namespaced',
      names: { plural: `things${i}`, kind: `Thing${i}` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema } }],
    },
  };
}

/** Returns the custom resource paths in a merged document. */
const pathsOf = (swagger: Json): string[] =>
  Object.keys(swagger['paths']).filter((path) => /^\/apis\/many.*\/\{namespace\}\/things\d+$/.test(path));

describe(`${count} definitions in sequence, under concurrent readers`, () => {
  let cluster: TestCluster;
  let kinds: ReturnType<typeof customKinds>;
  const seen: { readonly discovered: number; readonly described: number }[] = [];

  async function read(): Promise<void> {
    const discovery = await kinds.call('/apis', { headers: { accept: aggregated } });
    const resources = (discovery.body['items'] as Json[])
      .filter(({ metadata }) => /^many/.test(metadata.name))
      .flatMap(({ versions }) => versions as Json[])
      .flatMap(({ resources: own }) => own as Json[]);
    const swagger = await kinds.call('/openapi/v2');
    const described = pathsOf(swagger.body);
    expect(new Set(described).size).toBe(described.length);
    for (const path of described) {
      const reference = swagger.body['paths'][path].get.responses[200].schema.$ref as string;
      expect(swagger.body['definitions']).toHaveProperty([reference.replace('#/definitions/', '')]);
    }
    seen.push({ discovered: resources.length, described: described.length });
  }

  beforeAll(async () => {
    cluster = await startTestCluster();
    kinds = customKinds(cluster);
    await kinds.call('/openapi/v2');
    const end = new AbortController();
    const reading = readUntil(end.signal);
    try {
      await defineAll();
    } finally {
      end.abort();
      await reading;
    }
  }, 120_000);
  afterAll(() => cluster[Symbol.asyncDispose]());

  /** Reads with pauses, because the documents have megabytes and are parsed in this process. */
  async function readUntil(end: AbortSignal): Promise<void> {
    while (!end.aborted) {
      await read();
      await sleep(200);
    }
  }

  async function defineAll(): Promise<void> {
    for (let i = 0; i < count; i += 1) {
      const { code } = await kinds.call(kinds.definitions, { body: definition(i) });
      expect(code).toBe(201);
      const path = `/apis/${groupOf(i)}/v1/namespaces/default/things${i}`;
      expect((await kinds.eventually(path, (answer) => answer.code === 200)).code).toBe(200);
      const made = await kinds.call(path, {
        body: { apiVersion: `${groupOf(i)}/v1`, kind: `Thing${i}`, metadata: { name: 'a' }, spec: {} },
      });
      expect(made.body['spec'].field19).toBe('x');
    }
  }

  it('appear in discovery and OpenAPI sequentially and completely', async () => {
    expect(seen.length).toBeGreaterThan(1);
    expect(seen.map(({ discovered }) => discovered)).toEqual(seen.map(({ discovered }) => discovered).toSorted((a, b) => a - b));
    expect(seen.map(({ described }) => described)).toEqual(seen.map(({ described }) => described).toSorted((a, b) => a - b));
    seen.length = 0;
    await read();
    expect(seen).toEqual([{ discovered: count, described: count }]);
  });

  it('leave other documents unchanged when one is removed', async () => {
    const before = await kinds.call(`/openapi/v3/apis/${groupOf(1)}/v1`);
    await kinds.call(`${kinds.definitions}/things0.${groupOf(0)}`, { method: 'DELETE' });
    await kinds.eventually(`/apis/${groupOf(0)}/v1/namespaces/default/things0`, ({ code }) => code === 404);
    // The document is rebuilt asynchronously after the kind is removed.
    const document = await kinds.eventually('/openapi/v2', ({ body }) => pathsOf(body).length === count - 1);
    expect(pathsOf(document.body)).toHaveLength(count - 1);
    expect(await kinds.call(`/openapi/v3/apis/${groupOf(1)}/v1`)).toEqual(before);
  });
});
