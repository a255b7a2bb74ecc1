import { Buffer } from 'node:buffer';
import { isConflict, isNotFound, newInternalError, StatusError } from '#apimachinery/api/errors';
import type { KubeObject, Status } from '#apimachinery/meta/types';
import { encodeJson, parseJson } from '#apimachinery/runtime/json/json';
import type { UserInfo } from '#apiserver/request/user-info';
import type { Exchange } from '#apiserver/request/exchange';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import type { ClientTarget, ObjectClient } from '#apiserver/registry/client';

const attempts = 8;

/** Serves a request of a known user: the whole chain except authentication. */
export type ServeAs = (exchange: Exchange, user: UserInfo) => void;

/** Reads and writes objects as a user, by in-process requests. */
export class UserClient implements ObjectClient {
  constructor(
    readonly serve: ServeAs,
    readonly user: UserInfo,
  ) {}

  async get(target: ClientTarget, namespace: string, name: string): Promise<KubeObject | undefined> {
    return this.#unlessMissing(this.#ask('GET', pathOf(target, namespace, name)));
  }

  create(target: ClientTarget, object: KubeObject): Promise<KubeObject> {
    const { namespace = '', name } = object.metadata;
    return this.#ask('POST', pathOf(target, namespace, target.subresource === undefined ? undefined : name), object);
  }

  async update(
    target: ClientTarget,
    namespace: string,
    name: string,
    change: (object: KubeObject) => KubeObject | undefined,
  ): Promise<KubeObject | undefined> {
    for (let attempt = 1; ; attempt += 1) {
      const current = await this.get(target, namespace, name);
      const next = current && change(current);
      if (!next) return undefined;
      try {
        return await this.#unlessMissing(this.#ask('PUT', pathOf(target, namespace, name), next));
      } catch (error) {
        if (!isConflict(error) || attempt === attempts) throw error;
      }
    }
  }

  async delete(target: ClientTarget, namespace: string, name: string): Promise<void> {
    await this.#unlessMissing(this.#ask('DELETE', pathOf(target, namespace, name)));
  }

  async #ask(method: string, url: string, body?: KubeObject): Promise<KubeObject> {
    const exchange = new InProcessExchange({
      method,
      url,
      headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'kubenest-plugin' },
      body: body && Buffer.from(encodeJson(body)),
    });
    this.serve(exchange, this.user);
    const response = await exchange.response;
    const bytes = Buffer.from(await response.arrayBuffer());
    if (response.ok) return parseJson(bytes).value as KubeObject;
    throw statusOf(bytes) ?? newInternalError(new Error(`the server answered with HTTP status ${response.status}`));
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

/** Returns the error of a Status; undefined if the body is not a Status, for example a page. */
function statusOf(bytes: Buffer): StatusError | undefined {
  if (bytes[0] !== '{'.charCodeAt(0)) return undefined;
  return new StatusError(parseJson(bytes).value as unknown as Status);
}

function pathOf({ group, version, resource, subresource }: ClientTarget, namespace: string, name: string | undefined): string {
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespace === '' ? [] : ['namespaces', namespace]),
    resource,
    ...(name === undefined ? [] : [name]),
    ...(subresource === undefined ? [] : [subresource]),
  ];
  return `/${parts.map(encodeURIComponent).join('/')}`;
}
