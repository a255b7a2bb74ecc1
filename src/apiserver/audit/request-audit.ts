import { newUnauthorized } from '#apimachinery/api/errors';
import { Buffer } from 'node:buffer';
import { isIP } from 'node:net';
import type { KubeObject, Status } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/encode';
import { formatDuration } from '#apimachinery/runtime/duration';
import { encodeJson, parseJson } from '#apimachinery/runtime/json';
import { parseYaml } from '#apimachinery/runtime/yaml';
import type { StructType } from '#apimachinery/runtime/schema';
import { formatMicroTime } from '#apimachinery/runtime/time';
import type { UserInfo } from '#apiserver/authentication/authenticator';
import type { RequestContext } from '#apiserver/endpoints/request/request-context';
import type { AuditMetrics } from './audit-metrics.ts';
import { type AuditBackend, type AuditedObject, type AuditedUser, type AuditEvent, auditLevels, type AuditStage } from './event.ts';
import type { AuditDecision } from './policy.ts';

/** Upstream: apiserver/pkg/audit/request.go. */
const maxUserAgentLength = 1024;
/** From here on the time that a request took is worth a note. */
const slowMs = 500;

/** What is noted of one audited request, and the events that are made of it. Upstream: apiserver/pkg/audit/{context,request}.go. */
export class RequestAudit {
  readonly #objectRef: AuditedObject | undefined;
  readonly #receivedAt: string;
  #responseStatus: Record<string, unknown> | undefined;
  #requestObject: string | undefined;
  #responseObject: string | undefined;
  #done = false;

  constructor(
    private readonly context: RequestContext,
    private readonly decision: AuditDecision,
    private readonly to: { readonly backend: AuditBackend; readonly metrics: AuditMetrics },
  ) {
    this.#receivedAt = wallTime(context.receivedAt);
    this.#objectRef = context.info.isResourceRequest ? objectRefOf(context) : undefined;
  }

  /** Whether the objects of requests are wanted. */
  get recordsRequest(): boolean {
    return auditLevels.indexOf(this.decision.level) >= auditLevels.indexOf('Request');
  }

  get recordsResponse(): boolean {
    return this.decision.level === 'RequestResponse';
  }

  /** The decoded object of a request, in the version that was sent; what it says of itself completes the reference. */
  requestObject(object: KubeObject, type: StructType): void {
    const { namespace, name, uid, resourceVersion } = object.metadata ?? {};
    const ref = this.#objectRef;
    if (ref) {
      if (!ref.namespace && namespace) ref.namespace = namespace;
      if (!ref.name && name) ref.name = name;
      if (!ref.uid && uid) ref.uid = uid;
      if (!ref.resourceVersion && resourceVersion) ref.resourceVersion = resourceVersion;
    }
    if (this.recordsRequest) this.#requestObject = this.#withoutManagedFields(encode(type, object));
  }

  /** A patch as it was sent: JSON, or the YAML of an apply. One that is neither is refused later and not noted. */
  requestPatch(body: Buffer): void {
    if (!this.recordsRequest) return;
    try {
      this.#requestObject = encodeJson(parseYaml(body).value);
    } catch {
      this.#requestObject = undefined;
    }
  }

  responseStatus({ status, message, reason, details, code }: Status): void {
    this.#responseStatus = { metadata: {}, ...defined({ status, message, reason, details, code }) };
  }

  /** An object of an answer as JSON; called only where it is wanted. */
  responseObject(json: Buffer): void {
    this.#responseObject = this.#withoutManagedFields(json.toString('utf8').trimEnd());
  }

  received(): boolean | Promise<boolean> {
    return this.#emit('RequestReceived');
  }

  /** The head of the answer is sent. Of long-running requests that is a stage. */
  started(code: number): void {
    this.#responseStatus ??= { metadata: {} };
    this.#responseStatus['code'] = code;
    if (this.context.longRunning) void this.#emit('ResponseStarted');
  }

  completed(): void {
    if (this.#done) return;
    this.#done = true;
    this.#responseStatus ??= { metadata: {}, status: 'Success', message: 'Connection closed early', code: 200 };
    const { receivedAt, longRunning, auditAnnotations } = this.context;
    const elapsed = performance.now() - receivedAt;
    if (elapsed > slowMs && !longRunning) auditAnnotations?.set('apiserver.latency.k8s.io/total', formatDuration(elapsed));
    void this.#emit('ResponseComplete');
  }

  panicked(error: unknown): void {
    if (this.#done) return;
    this.#done = true;
    const message = `APIServer panic'd: ${error instanceof Error ? error.message : String(error)}`;
    this.#responseStatus = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 };
    void this.#emit('Panic');
  }

  /** A request of somebody whom nobody knows: one event. */
  refused(): void {
    this.#done = true;
    const { status } = newUnauthorized('Unauthorized');
    this.responseStatus(status);
    if (this.recordsResponse) this.#responseObject = encodeJson(status);
    void this.#emit('ResponseStarted');
  }

  #emit(stage: AuditStage): boolean | Promise<boolean> {
    if (this.decision.omitStages.has(stage)) return true;
    this.to.metrics.made(1);
    return this.to.backend.process([this.#event(stage)]);
  }

  #event(stage: AuditStage): AuditEvent {
    const { context } = this;
    const { exchange, impersonator, impersonationConstraint, auditAnnotations } = context;
    const impersonated = impersonator ? context.user : undefined;
    const agent = context.header('user-agent');
    return {
      level: this.decision.level,
      auditID: context.auditId,
      stage,
      requestURI: exchange.url,
      verb: context.info.verb,
      user: userOf(impersonator ?? context.user),
      impersonatedUser: impersonated && userOf(impersonated),
      authenticationMetadata: impersonated && impersonationConstraint !== '' ? { impersonationConstraint } : undefined,
      sourceIPs: sourceIPsOf(context),
      userAgent: agent && (agent.length > maxUserAgentLength ? `${agent.slice(0, maxUserAgentLength)}...TRUNCATED` : agent),
      objectRef: this.#objectRef && { ...this.#objectRef },
      responseStatus: this.#responseStatus && { ...this.#responseStatus },
      requestObject: this.#requestObject,
      responseObject: this.#responseObject,
      requestReceivedTimestamp: this.#receivedAt,
      stageTimestamp: stage === 'RequestReceived' ? this.#receivedAt : wallTime(performance.now()),
      annotations: auditAnnotations?.size ? Object.fromEntries([...auditAnnotations].sort(([a], [b]) => (a < b ? -1 : 1))) : undefined,
    };
  }

  #withoutManagedFields(json: string): string {
    if (!this.decision.omitManagedFields || !json.includes('"managedFields"')) return json;
    const { value } = parseJson(Buffer.from(json));
    const object = value as { metadata?: Record<string, unknown>; items?: unknown; rows?: unknown };
    const lists = [object.items, object.rows].filter((list): list is unknown[] => Array.isArray(list));
    const objects = [object, ...lists.flat().flatMap((one) => [one, (one as { object?: unknown } | null)?.object])];
    for (const one of objects) delete (one as { metadata?: Record<string, unknown> } | null | undefined)?.metadata?.['managedFields'];
    return encodeJson(object);
  }
}

/** Only what has a value. */
function defined(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));
}

function objectRefOf({ info }: RequestContext): AuditedObject {
  const { resource, namespace, name, apiGroup, apiVersion, subresource } = info;
  return {
    ...(resource && { resource }),
    ...(namespace && { namespace }),
    ...(name && { name }),
    ...(apiGroup && { apiGroup }),
    ...(apiVersion && { apiVersion }),
    ...(subresource && { subresource }),
  };
}

function userOf(user: UserInfo | undefined): AuditedUser {
  if (!user) return {};
  const { name, uid, groups, extra } = user;
  return {
    ...(name && { username: name }),
    ...(uid && { uid }),
    ...(groups.length > 0 && { groups }),
    ...(extra && Object.keys(extra).length > 0 && { extra }),
  };
}

/** What proxies say of the client, and the other end of the connection. Upstream: apimachinery/pkg/util/net/http.go (SourceIPs). */
function sourceIPsOf(context: RequestContext): string[] {
  const forwarded = context.header('x-forwarded-for');
  const said = forwarded === undefined ? context.header('x-real-ip') : forwarded;
  const addresses = (said ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => isIP(one) !== 0);
  const { remoteAddress } = context.exchange.peer;
  const remote = remoteAddress.startsWith('::ffff:') ? remoteAddress.slice(7) : remoteAddress;
  return remote === '' || addresses.at(-1) === remote ? addresses : [...addresses, remote];
}

/** A time of the monotonic clock as RFC 3339 in microseconds. */
function wallTime(monotonic: number): string {
  const micros = Math.round((Date.now() - (performance.now() - monotonic)) * 1000);
  return formatMicroTime(Math.floor(micros / 1000), micros % 1000);
}
