import { readFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { traceHeader } from '#apiserver/tracing/request-traces';
import { type Api, type ApiAnswer, connectApi, startApi } from './api.ts';

export type ExplainVerb = 'create' | 'apply' | 'update' | 'delete';

/** Options of an explanation. */
export interface ExplainOptions {
  /** Files of objects, each with one or more documents in YAML or JSON. */
  readonly files: readonly string[];
  readonly verb: ExplainVerb;
  /** Impersonated user; undefined: the user of the kubeconfig, or an administrator. */
  readonly user?: string | undefined;
  readonly groups: readonly string[];
  /** Namespace of objects that name none. */
  readonly namespace: string;
  /** Kubeconfig of a running server; undefined: a server in this process. */
  readonly kubeconfig?: string | undefined;
  /** Path of the ServerConfiguration of the server in this process. */
  readonly config?: string | undefined;
  /** Files of existing objects of the server in this process: roles, policies, quotas. */
  readonly present: readonly string[];
  readonly output: 'tree' | 'json';
}

/** Number of attempts to find a kind, which is served with a delay after its definition. */
const attempts = 40;
const attemptMs = 50;

/**
 * Yields the explanation of the request for each object. All requests are dry runs, so nothing is stored. Rejects with an Error for
 * unreadable files and for kinds that the server does not have.
 */
export async function* explain(options: ExplainOptions): AsyncGenerator<string> {
  const objects = await documentsOf(options.files);
  const present = await documentsOf(options.present);
  await using api = options.kubeconfig === undefined ? await startApi(options.config) : await connectApi(options.kubeconfig);
  const session = new Explanation(api, options);
  if (options.kubeconfig === undefined) await session.prepare(present, objects);
  for (const object of objects) yield await session.explain(object);
}

class Explanation {
  constructor(
    readonly api: Api,
    readonly options: ExplainOptions,
  ) {}

  /**
   * Prepares an empty server as controllers would: creates namespaces with their service account. Authorizes the user for all requests if
   * there are no present objects.
   */
  async prepare(present: readonly KubeObject[], objects: readonly KubeObject[]): Promise<void> {
    const namespaces = new Set([...present, ...objects].map(({ metadata }) => metadata.namespace ?? this.options.namespace));
    for (const name of namespaces) {
      await this.#create({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
      await this.#create({ apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace: name } });
    }
    for (const object of present) {
      const { status, text } = await this.#create(object);
      if (status >= 400) throw new Error(`cannot create ${object.kind} ${object.metadata.name ?? ''}: ${messageOf(text)}`);
    }
    if (this.options.user !== undefined && present.length === 0) await this.#create(everythingFor(this.options.user));
    if (this.options.verb !== 'create' && this.options.verb !== 'apply') for (const object of objects) await this.#create(object);
  }

  async explain(object: KubeObject): Promise<string> {
    const { user, groups, output } = this.options;
    const answer = await this.#write(object, {
      [traceHeader]: '1',
      ...(user !== undefined && { 'impersonate-user': user }),
      ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    });
    const path = answer.headers.get(traceHeader);
    if (path === null) {
      const warning = answer.headers.get('warning');
      throw new Error(
        `the server responded with ${answer.status} and without a trace${warning === null ? '' : `: ${warning}`}: ${messageOf(answer.text)}`,
      );
    }
    const { text } = await this.api.ask({ method: 'GET', path: output === 'tree' ? `${path}?output=text` : path });
    return text.trimEnd();
  }

  #create(object: KubeObject): Promise<ApiAnswer> {
    return this.#pathOf(object).then((path) => this.api.ask({ method: 'POST', path, body: object }));
  }

  async #write(object: KubeObject, headers: Readonly<Record<string, string | string[]>>): Promise<ApiAnswer> {
    const collection = await this.#pathOf(object);
    const one = `${collection}/${encodeURIComponent(object.metadata.name ?? '')}`;
    const ask = (method: string, path: string, body?: object, type?: string): Promise<ApiAnswer> =>
      this.api.ask({ method, path, body, headers: { ...headers, ...(type !== undefined && { 'content-type': type }) } });
    switch (this.options.verb) {
      case 'create':
        return ask('POST', `${collection}?dryRun=All`, object);
      case 'apply':
        return ask('PATCH', `${one}?dryRun=All&force=true&fieldManager=kubenest-explain`, object, 'application/apply-patch+yaml');
      case 'update':
        return ask('PUT', `${one}?dryRun=All`, object);
      case 'delete':
        return ask('DELETE', `${one}?dryRun=All`);
    }
  }

  /** Returns the path of the object's collection, in its namespace. Retries, because a new kind is served with a delay. */
  async #pathOf({ apiVersion, kind, metadata }: KubeObject): Promise<string> {
    const { group, version } = parseGroupVersion(apiVersion);
    const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
    for (let attempt = 0; attempt < attempts; attempt += 1) {
      const { status, text } = await this.api.ask({ method: 'GET', path: root });
      const found = status === 200 ? resourceOf(text, kind) : undefined;
      if (found)
        return found.namespaced
          ? `${root}/namespaces/${metadata.namespace ?? this.options.namespace}/${found.name}`
          : `${root}/${found.name}`;
      if (this.options.present.length === 0) break;
      await setTimeout(attemptMs);
    }
    throw new Error(`unknown kind ${kind} in ${apiVersion}`);
  }
}

interface Resource {
  readonly name: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

function resourceOf(list: string, kind: string): Resource | undefined {
  const { resources } = JSON.parse(list) as { readonly resources: readonly Resource[] };
  return resources.find((one) => one.kind === kind && !one.name.includes('/'));
}

function everythingFor(name: string): KubeObject {
  const apiGroup = 'rbac.authorization.k8s.io';
  return {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'kubenest-explain' },
    roleRef: { apiGroup, kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ apiGroup, kind: 'User', name }],
  } as KubeObject;
}

/** Reads the objects of files. Rejects with an Error that names the file at fault. */
export async function documentsOf(files: readonly string[]): Promise<KubeObject[]> {
  const { parseAllDocuments } = await import('yaml');
  const all: KubeObject[] = [];
  for (const file of files) {
    const documents = parseAllDocuments(await readFile(file, 'utf8'), { version: '1.1' });
    for (const document of documents) {
      if (document.errors[0]) throw new Error(`${file}: ${document.errors[0].message}`);
      const object: unknown = document.toJS({ maxAliasCount: 0 });
      if (object === null) continue;
      if (!isObject(object)) throw new Error(`${file}: a document must be an object with apiVersion, kind and metadata`);
      all.push(...(object.kind === 'List' ? (object['items'] as KubeObject[]) : [object]));
    }
  }
  return all;
}

function isObject(value: unknown): value is KubeObject {
  return (
    isJsonObject(value) &&
    typeof value['apiVersion'] === 'string' &&
    typeof value['kind'] === 'string' &&
    (isJsonObject(value['metadata']) || value['kind'] === 'List')
  );
}

function messageOf(text: string): string {
  try {
    return (JSON.parse(text) as { readonly message?: string }).message ?? text;
  } catch {
    return text;
  }
}
