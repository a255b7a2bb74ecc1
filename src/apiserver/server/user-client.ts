import { Buffer } from 'node:buffer';
import { isConflict, isNotFound, newBadRequest, newGenericServerResponse, StatusError } from '#apimachinery/api/errors';
import { prefixFromUserAgent } from '#apimachinery/managedfields/manager-name';
import type { KubeObject, Status } from '#apimachinery/meta/types';
import { encodeJson, parseJson, parseJsonSteps } from '#apimachinery/runtime/json/json';
import { quote } from '#apimachinery/runtime/quote';
import { workOn } from '#apimachinery/runtime/steps';
import { isValidPathSegmentName } from '#apimachinery/validation/names';
import type { ConcurrencyLimit } from '#apiserver/base/concurrency-limit';
import type { UserInfo } from '#apiserver/request/user-info';
import { currentReconcile } from '#apiserver/tracing/reconcile-trace';
import type { Exchange } from '#apiserver/request/exchange';
import { InProcessExchange, type InProcessResponse } from '#apiserver/serving/in-process-exchange';
import type { ApplyOptions, ClientTarget, DeleteOptions, ListOptions, ObjectPatch, RequestClient } from '#apiserver/registry/client';

const attempts = 8;
/** Objects in one chunk of a list. Upstream: client-go/tools/pager. */
const listChunk = 500;

/** Serves a request of a known user: the whole chain except authentication. */
export type ServeAs = (exchange: Exchange, user: UserInfo) => void;

const patchTypes = {
  json: 'application/json-patch+json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  apply: 'application/apply-patch+yaml',
} as const;

interface RequestBody {
  readonly body?: object | undefined;
  readonly contentType?: string;
  readonly accept?: string | undefined;
  readonly query?: Readonly<Record<string, string | undefined>>;
}

/** Reads and writes objects as a user, by in-process requests. */
export class UserClient implements RequestClient {
  /**
   * `userAgent`: the field manager of its writes is the part before the first slash. `limit`: the requests that it may have in progress;
   * default: all.
   */
  constructor(
    readonly serve: ServeAs,
    readonly user: UserInfo,
    readonly userAgent = 'kubenest-plugin',
    readonly limit?: ConcurrencyLimit,
  ) {}

  async get<T extends KubeObject = KubeObject>(target: ClientTarget, namespace: string, name: string): Promise<T | undefined> {
    return this.#unlessMissing(this.#ask('GET', pathOf(target, namespace, name)));
  }

  async list<T extends KubeObject>(target: ClientTarget, namespace: string, options: ListOptions = {}): Promise<T[]> {
    const items: T[] = [];
    let next: string | undefined;
    do {
      const query = { ...selectorsOf(options), limit: `${listChunk}`, continue: next };
      const page = await this.#ask<KubeObject & ListPage<T>>('GET', pathOf(target, namespace), { query });
      for (const item of page.items ?? []) items.push(item);
      next = page.metadata.continue;
    } while (next);
    return items;
  }

  async create<T extends KubeObject>(target: ClientTarget, object: T): Promise<T> {
    const { namespace = '', name } = object.metadata;
    return this.#ask('POST', pathOf(target, namespace, target.subresource === undefined ? undefined : name), { body: object });
  }

  async update<T extends KubeObject>(
    target: ClientTarget,
    namespace: string,
    name: string,
    change: (object: T) => T | undefined,
  ): Promise<T | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const current = await this.get<T>(target, namespace, name);
      const next = current && change(current);
      if (!next) return undefined;
      try {
        return await this.#unlessMissing(this.#ask('PUT', pathOf(target, namespace, name), { body: next }));
      } catch (error) {
        if (!isConflict(error) || attempt === attempts) throw error;
      }
    }
  }

  async replace<T extends KubeObject>(target: ClientTarget, object: T): Promise<T> {
    const { namespace = '', name = '' } = object.metadata;
    return this.#ask('PUT', pathOf(target, namespace, name), { body: object });
  }

  async patch<T extends KubeObject>(target: ClientTarget, namespace: string, name: string, { type, patch }: ObjectPatch): Promise<T> {
    return this.#ask('PATCH', pathOf(target, namespace, name), { body: patch, contentType: patchTypes[type] });
  }

  async apply<T extends KubeObject>(target: ClientTarget, object: T, { force = false, ...options }: ApplyOptions = {}): Promise<T> {
    const { namespace = '', name = '' } = object.metadata;
    const { fieldManager = prefixFromUserAgent(this.userAgent) } = options;
    return this.#ask('PATCH', pathOf(target, namespace, name), {
      body: object,
      contentType: patchTypes.apply,
      query: { fieldManager, force: `${force}` },
    });
  }

  read<T>(path: string, accept?: string): Promise<T> {
    return this.#ask('GET', path, { accept });
  }

  async delete(target: ClientTarget, namespace: string, name: string): Promise<void> {
    await this.remove(target, namespace, name);
  }

  async remove(target: ClientTarget, namespace: string, name: string, options: DeleteOptions = {}): Promise<boolean> {
    const removed = await this.#unlessMissing(this.#ask('DELETE', pathOf(target, namespace, name), { body: deleteOptions(options) }));
    return removed !== undefined;
  }

  async removeAll(target: ClientTarget, namespace: string, options: DeleteOptions & ListOptions = {}): Promise<void> {
    const { labelSelector, fieldSelector, ...deletion } = options;
    const query = { labelSelector, fieldSelector };
    await this.#ask('DELETE', pathOf(target, namespace), { body: deleteOptions(deletion), query });
  }

  #ask<T = KubeObject>(method: string, path: string, request: RequestBody = {}): Promise<T> {
    return this.limit ? this.limit.run(() => this.#send<T>(method, path, request)) : this.#send(method, path, request);
  }

  async #send<T>(method: string, path: string, request: RequestBody): Promise<T> {
    const { body, contentType = 'application/json', accept = 'application/json', query = {} } = request;
    const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] !== undefined);
    const exchange = new InProcessExchange({
      method,
      url: given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path,
      headers: { accept, 'content-type': contentType, 'user-agent': this.userAgent },
      body: body && Buffer.from(encodeJson(body)),
    });
    const trace = currentReconcile();
    const began = trace && performance.now();
    this.serve(exchange, this.user);
    const { status, body: answer } = await exchange.plainResponse;
    trace?.requested(method, path, status, performance.now() - (began as number));
    const bytes = await wholeOf(answer);
    if (status >= 200 && status < 300) return (await workOn(bytes.length, parseJsonSteps(bytes))).value as T;
    throw statusOf(bytes) ?? newGenericServerResponse(status, method);
  }

  async #unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
    try {
      return await work;
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  }
}

interface ListPage<T> {
  readonly metadata: { readonly continue?: string };
  readonly items?: readonly T[] | null;
}

function selectorsOf({ labelSelector, fieldSelector }: ListOptions): {
  labelSelector: string | undefined;
  fieldSelector: string | undefined;
} {
  return { labelSelector, fieldSelector };
}

function deleteOptions(options: DeleteOptions): object | undefined {
  return Object.keys(options).length === 0 ? undefined : { apiVersion: 'v1', kind: 'DeleteOptions', ...options };
}

/** Without a web `Response`, whose first use loads a library for 25 ms. */
async function wholeOf(body: InProcessResponse['body']): Promise<Buffer> {
  if (Buffer.isBuffer(body)) return body;
  const parts: Uint8Array[] = [];
  if (body) for await (const part of body) parts.push(part);
  return Buffer.concat(parts);
}

/** Returns the error of a Status; undefined if the body is not a Status, for example a page. */
function statusOf(bytes: Buffer): StatusError | undefined {
  if (bytes[0] !== '{'.charCodeAt(0)) return undefined;
  return new StatusError(parseJson(bytes).value as unknown as Status);
}

/**
 * Returns the path of an object or collection. Throws for a name that would lead elsewhere: names come from fields of objects, such as
 * `secretName`, and a user who writes one must not direct the request of a controller. Upstream: client-go/rest/request.go (Name,
 * Namespace).
 */
function pathOf({ group, version, resource, subresource }: ClientTarget, namespace: string, name?: string): string {
  if (namespace !== '') checkSegment('namespace', namespace);
  if (name === '') throw newBadRequest('resource name may not be empty');
  if (name !== undefined) checkSegment('resource name', name);
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespace === '' ? [] : ['namespaces', namespace]),
    resource,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}

function checkSegment(what: string, text: string): void {
  const problems = isValidPathSegmentName(text);
  if (problems.length > 0) throw newBadRequest(`invalid ${what} ${quote(text)}: [${problems.join(' ')}]`);
}
