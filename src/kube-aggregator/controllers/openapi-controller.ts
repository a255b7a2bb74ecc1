import { joinSwagger, type V3Document } from '#apimachinery/openapi/swagger';
import type { DocumentBuilder } from '#apiserver/endpoints/openapi/openapi-registry';
import type { ExtensionServer } from '../apiserver/extension-server.ts';
import { KeyedQueue } from './keyed-queue.ts';

const user = { name: 'system:aggregator', groups: [] };
const timeoutMs = 60_000;
const refreshMs = 60_000;
const headers = { accept: 'application/json' };

interface RemoteDocument {
  /** With the hash of the content. */
  readonly url: string;
  readonly build: DocumentBuilder;
}

export interface OpenApiControllerOptions {
  /** Called with all documents of other servers after each change, by what follows `/openapi/v3/`. */
  onChange(documents: ReadonlyMap<string, DocumentBuilder>): void;
  onError(error: unknown): void;
}

/**
 * Fetches what other servers say of their group versions in the form of OpenAPI 3.0, once a minute; the joined document of 2.0
 * is made of it. Upstream: kube-aggregator/pkg/controllers/openapiv3.
 */
export class OpenApiController implements Disposable {
  readonly #servers = new Map<string, { readonly path: string; readonly server: ExtensionServer }>();
  readonly #documents = new Map<string, RemoteDocument>();
  readonly #queue: KeyedQueue;

  constructor(readonly options: OpenApiControllerOptions) {
    this.#queue = new KeyedQueue({
      work: (name) => this.#fetch(name),
      firstRetryMs: 500,
      lastRetryMs: refreshMs,
      resyncMs: refreshMs,
      onError: options.onError,
    });
  }

  /** Of an APIService that came or changed, `path` being `apis/<group>/<version>`; undefined when it is gone. */
  set(name: string, place: { readonly path: string; readonly server: ExtensionServer } | undefined): void {
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
    const { path, server } = place;
    const index = await getJson(server, '/openapi/v3').catch(() => undefined);
    if (index === undefined) return false;
    const url = urlIn(index, path);
    if (url === undefined) {
      if (this.#documents.delete(name)) this.#change();
      return true;
    }
    if (this.#documents.get(name)?.url === url) return true;
    const document = await getJson(server, url).catch(() => undefined);
    if (document === undefined) return false;
    const checked = checkedDocument(document);
    if (this.#servers.get(name) !== place) return true;
    this.#documents.set(name, { url, build: () => checked });
    this.#change();
    return true;
  }

  #change(): void {
    const documents = new Map<string, DocumentBuilder>();
    for (const [name, { build }] of this.#documents) {
      const place = this.#servers.get(name);
      if (place) documents.set(place.path, build);
    }
    this.options.onChange(documents);
  }
}

/** `null` for an answer that is not 200: the server has no such document. */
async function getJson(server: ExtensionServer, path: string): Promise<unknown> {
  const { status, body } = await server.get(path, { user, headers, timeoutMs });
  if (status >= 500) throw new Error(`${path}: ${status}`);
  return status === 200 ? (JSON.parse(body.toString('utf8')) as unknown) : null;
}

/** The address of a document in an index of OpenAPI 3.0, on the same server. */
function urlIn(index: unknown, path: string): string | undefined {
  const { paths } = (index ?? {}) as { readonly paths?: Readonly<Record<string, unknown>> };
  const entry = paths && Object.hasOwn(paths, path) ? (paths[path] as { readonly serverRelativeURL?: unknown }) : undefined;
  const url = entry?.serverRelativeURL;
  return typeof url === 'string' && url.startsWith('/openapi/v3/') ? url : undefined;
}

/** Throws for what cannot be joined with other documents: they are not to suffer from it. */
function checkedDocument(document: unknown): V3Document {
  const { paths, components, info } = (document ?? {}) as Partial<V3Document>;
  const checked = { ...(document as object), info: info ?? {}, paths: paths ?? {}, components: components ?? {} };
  const steps = joinSwagger([checked]);
  while (!steps.next().done);
  return checked;
}
