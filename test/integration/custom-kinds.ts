import { setTimeout as sleep } from 'node:timers/promises';
import type { TestCluster, TestRequest } from '#testing/index';

/** JSON of any shape. */
export interface Json {
  // biome-ignore lint/suspicious/noExplicitAny: answers of any kind.
  [field: string]: any;
}

/** `body` is JSON; of other responses `{ text }`. */
export interface Answer {
  readonly code: number;
  readonly body: Json;
  readonly warnings: string;
}

/** A Widget kind in its own group. */
export interface Kind {
  readonly group: string;
  /** Name of its definition. */
  readonly name: string;
  readonly spec: Json;
  /** Returns the path of its objects in the namespace default. Default version: v1. */
  path(version?: string): string;
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
let serial = 0;

/**
 * Returns a kind in its own group. `version` is merged into its only version unless `more`, which is merged into the spec,
 * lists versions.
 */
export function kind(spec: Json, version: Json = {}, more: Json = {}): Kind {
  serial += 1;
  const group = `g${serial}.test.dev`;
  const openAPIV3Schema = { type: 'object', properties: { spec } };
  return {
    group,
    name: `widgets.${group}`,
    spec: {
      group,
      scope: 'Namespaced',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema }, ...version }],
      ...more,
    },
    path: (name = 'v1') => `/apis/${group}/${name}/namespaces/default/widgets`,
  };
}

/** Returns an object of the kind; `more` is merged into it. */
export function widget({ group }: Kind, name: string, more: Json = {}, version = 'v1'): Json {
  return { apiVersion: `${group}/${version}`, kind: 'Widget', metadata: { name }, ...more };
}

/** Returns a patch request. */
export function patch(type: 'merge' | 'json' | 'apply', body: unknown): TestRequest {
  return {
    method: 'PATCH',
    headers: { 'content-type': type === 'apply' ? 'application/apply-patch+yaml' : `application/${type}-patch+json` },
    body: JSON.stringify(body),
  };
}

/** A schema that accepts any object. */
export const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
/** A schema with one field. */
export const sized = { type: 'object', properties: { size: { type: 'integer', minimum: 1 } } };

/** Sends requests to a server's custom resources. `definitions` is the collection path of definitions. */
export function customKinds(cluster: TestCluster): {
  readonly definitions: string;
  call(path: string, request?: TestRequest): Promise<Answer>;
  eventually(path: string, isRight: (answer: Answer) => boolean): Promise<Answer>;
  define(kind: Kind): Promise<void>;
} {
  async function call(path: string, request: TestRequest = {}): Promise<Answer> {
    const response = await cluster.fetch(path, request);
    const text = await response.text();
    return {
      code: response.status,
      body: text.startsWith('{') ? (JSON.parse(text) as Json) : { text },
      warnings: response.headers.get('warning') ?? '',
    };
  }

  /** Repeats a GET until the response is as expected, to await asynchronous changes. */
  async function eventually(path: string, isRight: (answer: Answer) => boolean): Promise<Answer> {
    for (let left = 200; ; left -= 1) {
      const answer = await call(path);
      if (isRight(answer) || left === 0) return answer;
      await sleep(10);
    }
  }

  async function define({ name, spec, path }: Kind): Promise<void> {
    const body = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name }, spec };
    const created = await call(definitions, { body });
    if (created.code !== 201) throw new Error(JSON.stringify(created.body));
    const version = (spec['versions'] as Json[]).find(({ served }) => served) as Json;
    const list = await eventually(path(version['name'] as string), ({ code }) => code !== 404);
    if (list.code === 404) throw new Error(`${name} is not served`);
  }

  return { definitions, call, eventually, define };
}
