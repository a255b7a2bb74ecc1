import { Buffer } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { type GroupVersionKind, type GroupVersionResource, type KubeObject, parseGroupVersion } from '#apimachinery/meta/types';
import { applyJsonPatch } from '#apimachinery/patch/json-patch';
import type { Operation } from '#apiserver/request/admission-context';
import { rounded, type TraceDocument, type TraceStep } from '#apiserver/request/request-trace';
import type { UserInfo } from '#apiserver/request/user-info';
import { InProcessExchange } from '#apiserver/serving/in-process-exchange';
import { traceText } from '#apiserver/tracing/trace-text';
import { readObjects } from '#cmd/objects/documents';
import { newLog } from '#cmd/logging/log';
import { clusterConnection } from './cluster/connection.ts';
import { pathOf } from './cluster/cluster-informers.ts';
import { readWebhookFile } from './webhook-configuration.ts';
import { createWebhookServer, type WebhookServer } from './webhook-server.ts';

/** Time for the informers to read the objects of the cluster. */
const syncMs = 30_000;

/** Options of `kubenest webhook explain`. */
export interface ExplainReviewsOptions {
  readonly config: string;
  readonly kubeconfig?: string;
  readonly file: readonly string[];
  readonly verb: 'create' | 'update' | 'delete';
  /** User of the requests. Default: the user of the kubeconfig. */
  readonly as?: string;
  readonly asGroup: readonly string[];
  /** Namespace of objects that name none. */
  readonly namespace: string;
}

/** The explanation of one request. */
export interface ExplainedReview {
  readonly text: string;
  readonly allowed: boolean;
}

/** One request to be explained. */
interface Explained {
  readonly operation: Operation;
  readonly kind: GroupVersionKind;
  readonly resource: GroupVersionResource;
  readonly namespace: string;
  readonly name: string;
  readonly user: UserInfo;
  readonly object: KubeObject | undefined;
  readonly oldObject: KubeObject | undefined;
}

/** The members of an answered review that matter here. */
interface Response {
  readonly allowed: boolean;
  readonly status?: { readonly code?: number; readonly message?: string };
  readonly patch?: string;
  readonly warnings?: readonly string[];
}

/**
 * Yields the explanation of what the plugins of a configuration do with each object in a cluster. The plugins run in this process, with the
 * objects of the cluster; the requests are dry runs, and the cluster gets none of them. Rejects for unreadable files and unknown kinds.
 */
export async function* explainReviews(options: ExplainReviewsOptions): AsyncGenerator<ExplainedReview> {
  const objects = (await readObjects(options.file)).map(({ object }) => object);
  const { contributions } = await readWebhookFile(options.config);
  const connection = await clusterConnection(options.kubeconfig);
  const log = newLog(-1);
  const server = await createWebhookServer({ connection, contributions, log, id: 'explain', requestTraces: 2, shutdownDelayMs: 0 });
  try {
    await server.start();
    await Promise.race([server.whenSynced(), sleep(syncMs, undefined, { ref: false })]);
    server.assertSynced();
    const user = options.as === undefined ? await ownUser(server) : { name: options.as, groups: options.asGroup };
    for (const object of objects) yield await explained(server, await requestFor(server, object, user, options));
  } finally {
    await server.stop();
    log.flush();
  }
}

/** Returns the user of the connection's credentials, as the cluster knows it. */
async function ownUser({ api }: WebhookServer): Promise<UserInfo> {
  const target = { group: 'authentication.k8s.io', version: 'v1', resource: 'selfsubjectreviews' };
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
  const { status } = (await api.client.create(target, review)) as unknown as {
    readonly status: { readonly userInfo: { readonly username: string; readonly groups?: readonly string[] } };
  };
  return { name: status.userInfo.username, groups: status.userInfo.groups ?? [] };
}

async function requestFor(
  { api, kinds }: WebhookServer,
  object: KubeObject,
  user: UserInfo,
  { verb, namespace: defaultNamespace }: ExplainReviewsOptions,
): Promise<Explained> {
  const kind = { ...parseGroupVersion(object.apiVersion), kind: object.kind };
  const mapping = kinds.resourcesOf(kind).find(({ resource }) => !resource.resource.includes('/'));
  if (!mapping) throw new Error(`unknown kind ${object.kind} in ${object.apiVersion}`);
  const { resource, namespaced } = mapping;
  const name = object.metadata.name ?? '';
  const own = namespaced ? (object.metadata.namespace ?? defaultNamespace) : '';
  const placed = { ...object, metadata: { ...object.metadata, ...(namespaced && { namespace: own }) } };
  // As in the server, the namespace of a Namespace is its own name.
  const namespace = resource.group === '' && resource.resource === 'namespaces' ? name : own;
  const request = { kind, resource, namespace, name, user };
  if (verb === 'create') return { ...request, operation: 'CREATE', object: placed, oldObject: undefined };
  const oldObject = await api.client.get(resource, own, name);
  if (!oldObject) throw new Error(`${object.kind} ${name} does not exist in the cluster`);
  if (verb === 'delete') return { ...request, operation: 'DELETE', object: undefined, oldObject };
  const { uid, resourceVersion } = oldObject.metadata;
  const next = { ...placed, metadata: { uid, resourceVersion, ...placed.metadata } } as KubeObject;
  return { ...request, operation: 'UPDATE', object: next, oldObject };
}

/** Sends the reviews of both phases. The text shows their traces as one tree. */
async function explained(server: WebhookServer, request: Explained): Promise<ExplainedReview> {
  const mutated = await review(server, 'mutate', request);
  const answers = [mutated];
  if (mutated.response.allowed) {
    const { patch } = mutated.response;
    const operations: unknown = patch === undefined ? [] : JSON.parse(Buffer.from(patch, 'base64').toString());
    const object = request.object && (applyJsonPatch(request.object, operations) as KubeObject);
    answers.push(await review(server, 'validate', { ...request, object }));
  }
  const { response, trace } = answers.at(-1) as Reviewed;
  const { operation, resource, namespace, user } = request;
  const collection = pathOf(resource);
  const at = namespace === '' ? collection : collection.replace(/\/([^/]+)$/, `/namespaces/${namespace}/$1`);
  const text = traceText({
    ...trace,
    method: operation,
    url: at,
    user,
    impersonator: null,
    status: response.allowed ? 200 : (response.status?.code ?? 403),
    message: response.status?.message ?? '',
    warnings: answers.flatMap(({ response: { warnings = [] } }) => warnings),
    milliseconds: rounded(answers.reduce((sum, one) => sum + one.trace.milliseconds, 0)),
    steps: answers.flatMap((one) => one.trace.steps).flatMap(admissionStep),
  });
  return { text, allowed: response.allowed };
}

/** Returns a step of the admission without the note of the review, whose contents the title has; nothing for other steps. */
function admissionStep({ notes = [], ...step }: TraceStep): TraceStep[] {
  if (step.stage !== 'admit' && step.stage !== 'validate') return [];
  const kept = notes.filter(({ kind }) => kind !== 'review');
  return [{ ...step, ...(kept.length > 0 && { notes: kept }) }];
}

interface Reviewed {
  readonly response: Response;
  readonly trace: TraceDocument;
}

async function review({ server, traces }: WebhookServer, phase: 'mutate' | 'validate', explained: Explained): Promise<Reviewed> {
  const { operation, kind, resource, namespace, name, user, object = null, oldObject = null } = explained;
  const request = {
    uid: 'explain',
    ...{ operation, kind, resource, namespace, name, object, oldObject },
    userInfo: { username: user.name, groups: user.groups },
    dryRun: true,
  };
  const exchange = new InProcessExchange({
    method: 'POST',
    url: `/${phase}`,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request })),
  });
  server.serve(exchange);
  const answer = await exchange.response;
  const document = (await answer.json()) as { readonly response?: Response; readonly message?: string };
  if (!document.response) throw new Error(document.message);
  const [trace] = traces.all;
  return { response: document.response, trace: (trace as NonNullable<typeof trace>).document() };
}
