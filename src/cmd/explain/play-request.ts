import type { KubeObject } from '#apimachinery/meta/types';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { traceHeader } from '#apiserver/tracing/request-traces';
import { discoveryPath, type ServedResource, servedResources } from '#cmd/objects/served-resources';
import { messageOf } from '#cmd/objects/status-message';
import type { Api, ApiAnswer, ApiRequest } from './api.ts';
import { refusingStep, type Verdict, verdictOf } from './verdict.ts';

/** The user that an administrator impersonates. */
export interface PlayedUser {
  readonly name: string;
  readonly groups: readonly string[];
  readonly uid?: string | undefined;
  readonly extra?: Readonly<Record<string, readonly string[]>> | undefined;
}

/** A request with an object. */
export interface PlayedRequest {
  readonly verb: 'create' | 'apply' | 'update' | 'delete' | 'connect';
  readonly object: KubeObject;
  /** Default: the user of the Api. */
  readonly user?: PlayedUser | undefined;
  /** `pods`, `deployments.apps`: the resource, if the object is of another kind, such as Scale. Default: the resource of its kind. */
  readonly resource?: string | undefined;
  readonly subresource?: string | undefined;
  /** Stores the result. Default: false. */
  readonly isStored?: boolean | undefined;
  /** Rejects unknown fields. Default: the server warns of them. */
  readonly isStrict?: boolean | undefined;
}

/** The outcome of a request. */
export interface PlayedOutcome {
  readonly verdict: Verdict;
  /** Names of the admission plugin that denied or failed, and of its policies and webhooks that did; empty for other verdicts. */
  readonly refusedBy: readonly string[];
  /** The object in the response of an admitted request; undefined for connections. */
  readonly result: KubeObject | undefined;
  readonly trace: TraceDocument;
}

/** Plays requests through the whole chain of a server and reads their traces. */
export class RequestPlayer {
  /** `namespace`: that of objects that name none. */
  constructor(
    readonly api: Api,
    readonly namespace: string,
  ) {}

  /** Rejects with an Error for a kind that the server does not have, and without a trace. */
  async play(request: PlayedRequest): Promise<PlayedOutcome> {
    const answer = await this.#send(request);
    const path = answer.headers.get(traceHeader);
    if (path === null) {
      const warning = answer.headers.get('warning');
      throw new Error(
        `the server responded with ${answer.status} and without a trace${warning === null ? '' : `: ${warning}`}: ${messageOf(answer.text)}`,
      );
    }
    const trace = JSON.parse((await this.api.ask({ method: 'GET', path })).text) as TraceDocument;
    const isConnection = request.verb === 'connect';
    const verdict = verdictOf(trace, isConnection);
    const hasResult = verdict === 'admitted' && !isConnection;
    const refusedBy = verdict === 'denied' || verdict === 'failed' ? refusingNames(trace) : [];
    return { verdict, refusedBy, result: hasResult ? (JSON.parse(answer.text) as KubeObject) : undefined, trace };
  }

  async #send({ verb, object, user, resource, subresource, isStored = false, isStrict = false }: PlayedRequest): Promise<ApiAnswer> {
    const served = await (resource === undefined ? this.#resourceOfKind(object) : this.#resourceNamed(resource));
    const collection = served.collection(object.metadata.namespace ?? this.namespace);
    const one = `${collection}/${encodeURIComponent(object.metadata.name ?? '')}`;
    const target = subresource === undefined ? one : `${one}/${subresource}`;
    const query = new URLSearchParams({ ...(!isStored && { dryRun: 'All' }), ...(isStrict && { fieldValidation: 'Strict' }) });
    const headers = { [traceHeader]: '1', ...(user && impersonating(user)) };
    switch (verb) {
      case 'create':
        return this.api.ask({ method: 'POST', path: `${subresource === undefined ? collection : target}?${query}`, headers, body: object });
      case 'update':
        return this.api.ask({ method: 'PUT', path: `${target}?${query}`, headers, body: await this.#withVersion(object, one) });
      case 'apply': {
        const type = { 'content-type': 'application/apply-patch+yaml' };
        query.append('force', 'true');
        query.append('fieldManager', 'kubenest-explain');
        return this.api.ask({ method: 'PATCH', path: `${target}?${query}`, headers: { ...headers, ...type }, body: object });
      }
      case 'delete':
        query.delete('fieldValidation');
        return this.api.ask({ method: 'DELETE', path: `${target}?${query}`, headers });
      case 'connect':
        return this.api.ask({ method: 'GET', path: `${target}?${optionsOf(object)}`, headers });
    }
  }

  /** Returns the object with the resourceVersion of the stored one, which an update of some kinds needs. */
  async #withVersion(object: KubeObject, path: string): Promise<KubeObject> {
    if (object.metadata.resourceVersion !== undefined) return object;
    const { status, text } = await this.api.ask({ method: 'GET', path });
    if (status !== 200) return object;
    const { resourceVersion } = (JSON.parse(text) as KubeObject).metadata;
    return { ...object, metadata: { ...object.metadata, ...(resourceVersion !== undefined && { resourceVersion }) } };
  }

  async #resourceOfKind({ apiVersion, kind }: KubeObject): Promise<ServedResource> {
    const found = (await this.#resourcesOf(apiVersion)).find((one) => one.kind === kind);
    if (!found) throw new Error(`unknown kind ${kind} in ${apiVersion}`);
    return found;
  }

  /** Returns a resource by its name and group, in the preferred version of the group. */
  async #resourceNamed(resource: string): Promise<ServedResource> {
    const dot = resource.indexOf('.');
    const name = dot < 0 ? resource : resource.slice(0, dot);
    const group = dot < 0 ? undefined : await this.#get(`/apis/${resource.slice(dot + 1)}`);
    const { preferredVersion } = JSON.parse(group ?? '{}') as { readonly preferredVersion?: { readonly groupVersion: string } };
    const apiVersion = dot < 0 ? 'v1' : preferredVersion?.groupVersion;
    const found = apiVersion === undefined ? undefined : (await this.#resourcesOf(apiVersion)).find((one) => one.name === name);
    if (!found) throw new Error(`unknown resource ${resource}`);
    return found;
  }

  async #resourcesOf(apiVersion: string): Promise<ServedResource[]> {
    const discovery = await this.#get(discoveryPath(apiVersion));
    return discovery === undefined ? [] : servedResources(apiVersion, discovery);
  }

  async #get(path: string): Promise<string | undefined> {
    const { status, text } = await this.api.ask({ method: 'GET', path });
    return status === 200 ? text : undefined;
  }
}

function impersonating({ name, groups, uid, extra = {} }: PlayedUser): NonNullable<ApiRequest['headers']> {
  return {
    'impersonate-user': name,
    ...(groups.length > 0 && { 'impersonate-group': [...groups] }),
    ...(uid !== undefined && { 'impersonate-uid': uid }),
    ...Object.fromEntries(
      Object.entries(extra).map(([key, values]) => [`impersonate-extra-${encodeURIComponent(key).toLowerCase()}`, [...values]]),
    ),
  };
}

/** Returns the members of an options kind, such as PodExecOptions, as a query. */
function optionsOf({ apiVersion: _, kind: __, metadata: ___, ...options }: KubeObject): URLSearchParams {
  return new URLSearchParams(
    Object.entries(options).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, String(one)])),
  );
}

function refusingNames({ steps }: TraceDocument): string[] {
  const step = refusingStep(steps);
  if (!step) return [];
  const notes = (step.notes ?? []).filter(({ kind, verdict = '' }) => isRefusal(kind, verdict));
  // The names of notes are `policy with binding binding` and `configuration/webhook`.
  return [step.name, ...notes.map(({ name }) => name.replace(/ with binding .*$/, '').replace(/^.*\//, ''))];
}

function isRefusal(kind: string, verdict: string): boolean {
  if (kind === 'policy') return /^does not hold \(.*Deny/.test(verdict);
  return kind === 'webhook' && verdict !== 'allowed';
}
