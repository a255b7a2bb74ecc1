import type { MessagePort } from 'node:worker_threads';
import { Container } from 'inversify';
import { newConflict } from '#apimachinery/api/errors';
import type { KubeObject } from '#apimachinery/meta/types';
import { encodeRawJson, parseEncodedText } from '#apimachinery/runtime/json/json';
import type { AuthorizationAttributes, Authorizer } from '#apiserver/authorization/authorizer';
import { systemClock } from '#apiserver/base/clock';
import type { Logger } from '#apiserver/base/logger';
import type { Metrics } from '#apiserver/base/metrics/metrics';
import type { Client, ClientTarget, ObjectClient } from '#apiserver/registry/client';
import type { Informers } from '#apiserver/registry/informers';
import type { UserInfo } from '#apiserver/request/user-info';
import { PluginServices, serviceTokens } from '../plugin-services.ts';
import { isolatedError, restoredError } from './isolated-error.ts';
import type { FromWorker, ServiceCall, ToWorker } from './messages.ts';
import { TurnLimit } from './turn-limit.ts';
import { TurnMetrics } from './turn-metrics.ts';

/** Calls that a thread may wait for at a time. The server performs reads in turn, and others at once. */
const maxReads = 8_000;
const maxOthers = 500;

/** Calls of services that the thread waits for. */
export class ServiceCalls {
  readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
  /** Numbers of the waiting calls that are not reads. */
  readonly #others = new Set<number>();
  #last = 0;

  constructor(private readonly port: MessagePort) {}

  call(call: Omit<ServiceCall, 'arguments'>, ...args: unknown[]): Promise<unknown> {
    const isRead = call.method === 'get' || call.method === 'list';
    const [waiting, most] = isRead ? [this.#waiting.size - this.#others.size, maxReads] : [this.#others.size, maxOthers];
    if (waiting >= most)
      return Promise.reject(new Error(`${most} calls of ${call.service}s wait for an answer: wait for some of them first`));
    const id = (this.#last += 1);
    if (!isRead) this.#others.add(id);
    const answer = Promise.withResolvers<unknown>();
    this.#waiting.set(id, answer);
    this.port.postMessage({ type: 'service', id, ...call, arguments: encodeRawJson(args) } satisfies FromWorker);
    return answer.promise;
  }

  answered({ id, value, error }: Extract<ToWorker, { readonly type: 'answer' }>): void {
    const waiting = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#others.delete(id);
    this.port.postMessage({ type: 'received', id } satisfies FromWorker);
    if (error) waiting?.reject(restoredError(error));
    else waiting?.resolve(value === undefined ? undefined : parseEncodedText(value, true));
  }
}

/** Services of the server whose calls are synchronous, so that a worker thread cannot have them. */
const unavailable = ['servedKinds', 'serviceResolver', 'restMapper', 'manifests', 'featureGates'] as const;

/** Creates the parent of the plugins' containers in a worker thread. A plugin that injects a service which is unavailable there fails. */
export function newWorkerContainer(port: MessagePort, calls: ServiceCalls, informers: Informers, shutdownSignal: AbortSignal): Container {
  const container = new Container();
  const logger = newLogger(port);
  const services = {
    client: newClient(calls),
    informers,
    authorizer: newAuthorizer(calls),
    logger,
    metrics: newMetrics(port, logger),
    clock: systemClock,
    shutdownSignal,
  };
  for (const [name, service] of Object.entries(services))
    container.bind(serviceTokens[name as keyof typeof services]).toConstantValue(service);
  for (const name of unavailable) container.bind(serviceTokens[name]).toDynamicValue(() => refuse(name));
  container.bind(PluginServices).toDynamicValue(() => refuse('pluginServices'));
  return container;
}

function refuse(name: string): never {
  const service = `${name[0]?.toUpperCase() ?? ''}${name.slice(1)}`;
  throw new Error(`it injects ${service}, which a package with \`isolation: worker\` cannot use`);
}

function newClient(calls: ServiceCalls): Client {
  return { ...newObjectClient(calls, undefined), asUser: (user) => newObjectClient(calls, user) };
}

function newObjectClient(calls: ServiceCalls, user: UserInfo | undefined): ObjectClient {
  const call = (method: string, ...args: unknown[]): Promise<unknown> => calls.call({ service: 'client', method, user }, ...args);
  const get = <T extends KubeObject>(target: ClientTarget, namespace: string, name: string): Promise<T | undefined> =>
    call('get', target, namespace, name) as Promise<T | undefined>;
  return {
    get,
    list: <T extends KubeObject>(target: ClientTarget, namespace: string) => call('list', target, namespace) as Promise<T[]>,
    create: <T extends KubeObject>(target: ClientTarget, object: T) => call('create', target, object) as Promise<T>,
    async update<T extends KubeObject>(target: ClientTarget, namespace: string, name: string, change: (object: T) => T | undefined) {
      // The change runs in this thread; the server replaces the object only if it is still the one that was read.
      for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
        const current = await get<T>(target, namespace, name);
        const version = current?.metadata.resourceVersion;
        const next = current && change(current);
        if (!next) return undefined;
        const stored = await call('replace', target, namespace, name, version, next);
        if (stored !== null) return stored as T;
      }
      throw newConflict(
        { group: target.group, resource: target.resource },
        name,
        `gave up after ${maxAttempts} conflicts with other writers`,
      );
    },
    delete: (target, namespace, name) => call('delete', target, namespace, name) as Promise<void>,
  };
}

const maxAttempts = 64;

function newAuthorizer(calls: ServiceCalls): Authorizer {
  return {
    name: 'Server',
    authorize: (attributes: AuthorizationAttributes) =>
      calls.call({ service: 'authorizer', method: 'authorize' }, attributes) as ReturnType<Authorizer['authorize']>,
  };
}

/** Log entries of one turn of the thread's event loop. */
const maxEntriesOfTurn = 1_000;

function newLogger(port: MessagePort): Logger {
  const limit = new TurnLimit(maxEntriesOfTurn, (dropped) =>
    send('warn', { dropped }, 'log entries dropped: too many in one turn of the event loop'),
  );
  const send = (level: 'info' | 'warn' | 'error', fields: object, message: string): void => {
    const plain = Object.fromEntries(
      Object.entries(fields).map(([key, value]: [string, unknown]) => [key, value instanceof Error ? isolatedError(value) : value]),
    );
    port.postMessage({ type: 'log', level, fields: plain, message } satisfies FromWorker);
  };
  const write =
    (level: 'info' | 'warn' | 'error') =>
    (fields: object, message: string): void => {
      if (limit.take()) send(level, fields, message);
    };
  return { info: write('info'), warn: write('warn'), error: write('error') };
}

function newMetrics(port: MessagePort, logger: Logger): Metrics {
  const limit = new TurnLimit(0, (dropped) => logger.warn({ dropped }, 'metrics dropped: too many in one turn of the event loop'));
  return new TurnMetrics(port, () => void limit.take());
}
