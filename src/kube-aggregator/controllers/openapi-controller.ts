import type { QueueMetrics } from '#apiserver/base/metrics/workqueue-metrics';
import { createHash } from 'node:crypto';
import { fromSwagger } from '#apimachinery/openapi/from-swagger';
import type { V3Document } from '#apimachinery/openapi/swagger';
import { isJsonObject } from '#apimachinery/patch/own-property';
import { gnosticForm, JoinedSwagger, jsonForm } from '#apiserver/endpoints/openapi/joined-swagger';
import type { DocumentBuilder } from '#apiserver/endpoints/openapi/document-builder';
import { oneStep } from '#apimachinery/runtime/steps';
import type { ExtensionServer } from '../apiserver/extension-server.ts';
import { everyMinute, KeyedQueue } from './keyed-queue.ts';
import { expectFew } from './remote-discovery.ts';

const user = { name: 'system:aggregator', groups: [] };
const timeoutMs = 60_000;
const headers = { accept: 'application/json' };

interface Place {
  readonly path: string;
  readonly group: string;
  readonly groupPriorityMinimum: number;
  readonly server: ExtensionServer;
}

interface Found {
  /** Includes the content hash. */
  readonly url: string;
  /** Not fetched if the hash is unchanged. */
  readonly document: unknown;
}

interface RemoteDocument {
  /** Includes the content hash. */
  readonly url: string;
  readonly build: DocumentBuilder;
}

export interface OpenApiControllerOptions {
  /** Called after each change with all remote documents, by their path after `/openapi/v3/`; those of groups with higher priority first. */
  onChange(documents: ReadonlyMap<string, DocumentBuilder>): void;
  onError(error: unknown): void;
  readonly queueMetrics?: QueueMetrics | undefined;
}

/**
 * Fetches the OpenAPI 3.0 documents of extension servers once a minute; the merged 2.0 document is derived from them. For servers that have
 * only 2.0, 3.0 is derived from it. Upstream: kube-aggregator/pkg/controllers/openapiv3, openapi.
 */
export class OpenApiController implements Disposable {
  readonly #servers = new Map<string, Place>();
  readonly #documents = new Map<string, RemoteDocument>();
  readonly #queue: KeyedQueue;

  constructor(readonly options: OpenApiControllerOptions) {
    this.#queue = new KeyedQueue({
      ...everyMinute,
      work: (name) => this.#fetch(name),
      onError: options.onError,
      metrics: options.queueMetrics,
    });
  }

  /** Adds or updates an APIService, whose `path` is `apis/<group>/<version>`; undefined removes it. */
  set(name: string, place: Place | undefined): void {
    if (place) {
      this.#servers.set(name, place);
      this.#queue.add(name);
      return;
    }
    this.#servers.delete(name);
    this.#queue.forget(name);
    if (this.#documents.delete(name)) this.#change();
  }

  [Symbol.dispose](): void {
    this.#queue[Symbol.dispose]();
  }

  async #fetch(name: string): Promise<boolean> {
    const place = this.#servers.get(name);
    if (!place) return true;
    const found = await this.#find(name, place).catch(() => undefined);
    if (found === undefined) return false;
    if (found === null) {
      if (this.#documents.delete(name)) this.#change();
      return true;
    }
    if (this.#documents.get(name)?.url === found.url) return true;
    const build = await checkedDocument(found.document);
    if (this.#servers.get(name) !== place) return true;
    this.#documents.set(name, { url: found.url, build });
    this.#change();
    return true;
  }

  /** Returns the document of a group version: 3.0, or converted from 2.0; `null` if the server has none. */
  async #find(name: string, { path, server }: Place): Promise<Found | null> {
    const index = await getJson(server, '/openapi/v3');
    if (index === null) return this.#findSwagger(name, path, server);
    const url = urlIn(index.json, path);
    if (url === undefined) return null;
    if (this.#documents.get(name)?.url === url) return { url, document: undefined };
    const answer = await getJson(server, url);
    return answer && { url, document: answer.json };
  }

  async #findSwagger(name: string, path: string, server: ExtensionServer): Promise<Found | null> {
    const answer = await getJson(server, '/openapi/v2');
    if (!answer) return null;
    const { json, hash } = answer;
    const url = `/openapi/v2?hash=${hash}`;
    if (this.#documents.get(name)?.url === url) return { url, document: undefined };
    return { url, document: isJsonObject(json) ? fromSwagger(json, `/${path}/`) : json };
  }

  #change(): void {
    const priorities = new Map<string, number>();
    for (const { group, groupPriorityMinimum } of this.#servers.values())
      priorities.set(group, Math.max(groupPriorityMinimum, priorities.get(group) ?? 0));
    const documents = [...this.#documents].flatMap(([name, { build }]) => {
      const place = this.#servers.get(name);
      return place ? { name, path: place.path, build, priority: priorities.get(place.group) ?? 0 } : [];
    });
    documents.sort((a, b) => b.priority - a.priority || (a.name < b.name ? -1 : 1));
    this.options.onChange(new Map(documents.map(({ path, build }) => [path, build])));
  }
}

/**
 * Maximum number of values in a document, parts of which are processed in one turn of the event loop. That of all built-in groups has
 * 37,000.
 */
const maxValues = 150_000;

/** Returns `null` for a response other than 200: the server has no such document. */
async function getJson(server: ExtensionServer, path: string): Promise<{ readonly json: unknown; readonly hash: string } | null> {
  const { status, body } = await server.get(path, { user, headers, timeoutMs });
  if (status >= 500) throw new Error(`${path}: ${status}`);
  if (status !== 200) return null;
  expectFew(body, maxValues);
  return { json: JSON.parse(body.toString('utf8')) as unknown, hash: createHash('sha512').update(body).digest('hex') };
}

/** Returns the URL of a document in an OpenAPI 3.0 index, on the same server. */
function urlIn(index: unknown, path: string): string | undefined {
  const { paths } = (index ?? {}) as { readonly paths?: Readonly<Record<string, unknown>> };
  const entry = paths && Object.hasOwn(paths, path) ? (paths[path] as { readonly serverRelativeURL?: unknown }) : undefined;
  const url = entry?.serverRelativeURL;
  return typeof url === 'string' && url.startsWith('/openapi/v3/') ? url : undefined;
}

/** Rejects for a document that cannot be merged, so that others are not affected. */
async function checkedDocument(document: unknown): Promise<DocumentBuilder> {
  const { paths, components, info } = (document ?? {}) as Partial<V3Document>;
  const checked = { ...(document as object), info: info ?? {}, paths: paths ?? {}, components: components ?? {} };
  const build: DocumentBuilder = () => oneStep(() => checked);
  for (const form of [jsonForm, gnosticForm]) await new JoinedSwagger(form).join([], [build]);
  return build;
}
