import { stringify } from 'yaml';
import type { KubeObject } from '#apimachinery/meta/types';
import type { TraceDocument } from '#apiserver/request/request-trace';
import { readObjects, type SourceObject } from '#cmd/objects/documents';
import { type Api, connectApi, startApi } from './api.ts';
import { ExistingObjects, isAccessRule } from './existing-objects.ts';
import { lineDiff } from './line-diff.ts';
import { type PlayedRequest, RequestPlayer } from './play-request.ts';
import type { Verdict } from './verdict.ts';

export type ExplainVerb = Exclude<PlayedRequest['verb'], 'connect'>;

/** Options of explanations. */
export interface ExplainOptions {
  /** Files and folders of objects, each file with one or more documents in YAML or JSON; `-` is standard input. */
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
  /** Files and folders of existing objects of the server in this process: namespaces, roles, policies, quotas. */
  readonly present: readonly string[];
}

/** The explanation of one request: an item of an ExplanationList, which docs/reference/explanation.schema.json describes. */
export interface Explanation {
  readonly file: string;
  /** Line at which the object begins. */
  readonly line: number;
  readonly object: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace: string | null;
    readonly name: string | null;
  };
  readonly verdict: Verdict;
  /** Admission plugin, policies and webhooks that denied or failed. */
  readonly refusedBy: readonly string[];
  readonly status: number;
  readonly message: string;
  readonly warnings: readonly string[];
  /** The object that would be stored; null if the request is not admitted. */
  readonly result: KubeObject | null;
  /** Lines of YAML from the sent object to `result`; empty if there is no result. */
  readonly diff: readonly string[];
  readonly trace: TraceDocument;
}

/**
 * Yields the explanation of the request for each object. All requests are dry runs, so nothing is stored. Rejects with an Error for
 * unreadable files, for existing objects that are invalid, and for kinds that the server does not have.
 */
export async function* explain(options: ExplainOptions): AsyncGenerator<Explanation> {
  const sources = await readObjects(options.files);
  const present = await readObjects(options.present, { mayBeEmpty: true });
  await using api = await apiOf(options, sources, present);
  const player = new RequestPlayer(api, options.namespace);
  const user = options.user === undefined ? undefined : { name: options.user, groups: options.groups };
  for (const source of sources) {
    const { object, file, line } = source;
    const { verdict, refusedBy, result = null, trace } = await player.play({ verb: options.verb, object, user });
    const { apiVersion, kind, metadata } = object;
    const { status, message, warnings } = trace;
    yield {
      file,
      line,
      object: { apiVersion, kind, namespace: metadata.namespace ?? null, name: metadata.name ?? null },
      verdict,
      refusedBy,
      status,
      message,
      warnings,
      result,
      diff: result ? lineDiff(yamlOf(object), yamlOf(result)) : [],
      trace,
    };
  }
}

/** Connects to the running server, or prepares a server in this process as controllers would. */
async function apiOf(
  { kubeconfig, config, namespace, user, verb }: ExplainOptions,
  sources: readonly SourceObject[],
  present: readonly SourceObject[],
): Promise<Api> {
  if (kubeconfig !== undefined) return connectApi(kubeconfig);
  const api = await startApi(config);
  try {
    const existing = new ExistingObjects(api, namespace);
    const given = present.map(({ object }) => object);
    const sent = sources.map(({ object }) => object);
    await existing.add(given);
    await existing.ensureNamespaces(sent.filter(({ kind }) => kind !== 'Namespace'));
    if (user !== undefined && !given.some(isAccessRule)) await existing.authorize(user);
    if (verb === 'update' || verb === 'delete') await existing.add(sent);
    return api;
  } catch (error) {
    await api[Symbol.asyncDispose]();
    throw error;
  }
}

/** Returns an object as YAML, without the metadata that the server sets. */
function yamlOf({ metadata, ...object }: KubeObject): string {
  const { managedFields: _, uid: __, resourceVersion: ___, creationTimestamp: ____, generation: _____, ...own } = metadata;
  return stringify({ ...object, metadata: own }, { sortMapEntries: true }).trimEnd();
}
