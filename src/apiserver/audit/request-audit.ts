import { newUnauthorized } from '#apimachinery/api/errors';
import { Buffer } from 'node:buffer';
import { isIP } from 'node:net';
import type { KubeObject, Status } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/encode';
import { formatDuration } from '#apimachinery/runtime/duration';
import { encodeJson, parseJson } from '#apimachinery/runtime/json/json';
import type { StructType } from '#apimachinery/runtime/schema';
import { formatMicroTime } from '#apimachinery/runtime/time';
import type { AuditContext } from '#apiserver/request/audit-context';
import type { UserInfo } from '#apiserver/request/user-info';
import type { RequestContext } from '#apiserver/request/request-context';
import type { AuditMetrics } from './audit-metrics.ts';
import {
  type AuditBackend,
  AuditedRequest,
  type AuditedObject,
  type AuditedUser,
  auditLevels,
  type AuditStage,
  StageEvent,
} from './event.ts';
import type { EventsOfTurn } from './events-of-turn.ts';
import type { AuditDecision } from './policy.ts';

/** Upstream: apiserver/pkg/audit/request.go. */
const maxUserAgentLength = 1024;
/** From here on the time that a request took is worth a note. */
const slowMs = 500;

/** Where the events of requests go. */
export interface AuditOutlet {
  readonly backend: AuditBackend;
  /** The backend where answers may wait for the end of a turn, so that their events are handed over together. */
  readonly ofTurn: EventsOfTurn | undefined;
  readonly metrics: AuditMetrics;
  /** Whether a request may not go on before its first event was taken over. Else that of one that changes nothing is handed over with what comes next. */
  readonly awaitsFirst: boolean;
}

/** What reads and changes nothing. */
const readingMethods = new Set(['GET', 'HEAD']);

/**
 * What is noted of one audited request, and the events that are made of it. No answer is sent before the events that precede it
 * were handed over: that of a whole body with its `ResponseComplete`, so that both events of a GET, and of all requests that are
 * answered in one turn, are one piece of work for the backend. Upstream: apiserver/pkg/audit/{context,request}.go.
 */
export class RequestAudit implements AuditContext {
  readonly #receivedAt: string;
  #objectRef: AuditedObject | undefined;
  /** As the last event described it. */
  #described: AuditedRequest | undefined;
  /** The first event, as long as it waits for the next. */
  #held: StageEvent | undefined;
  #responseStatus: Record<string, unknown> | undefined;
  #requestObject: string | undefined;
  #responseObject: string | undefined;
  #done = false;
  #holdsAnswer = false;

  constructor(
    private readonly context: RequestContext,
    private readonly decision: AuditDecision,
    private readonly to: AuditOutlet,
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
      this.#objectRef = {
        ...ref,
        ...(!ref.namespace && namespace && { namespace }),
        ...(!ref.name && name && { name }),
        ...(!ref.uid && uid && { uid }),
        ...(!ref.resourceVersion && resourceVersion && { resourceVersion }),
      };
      this.#described = undefined;
    }
    if (this.recordsRequest) this.#requestObject = this.#withoutManagedFields(encode(type, object));
  }

  /** A patch as it was sent, parsed; called only where it is wanted. */
  requestPatch(patch: unknown): void {
    this.#requestObject = encodeJson(patch);
  }

  responseStatus({ status, message, reason, details, code }: Status): void {
    this.#responseStatus = { metadata: {}, ...defined({ status, message, reason, details, code }) };
  }

  /** An object of an answer as JSON; called only where it is wanted. */
  responseObject(json: Buffer): void {
    this.#responseObject = this.#withoutManagedFields(json.toString('utf8').trimEnd());
  }

  received(): boolean | Promise<boolean> {
    const { context, to } = this;
    if (to.awaitsFirst || context.longRunning || !readingMethods.has(context.method)) return this.#emit('RequestReceived');
    if (!this.decision.omitStages.has('RequestReceived')) this.#held = this.#event('RequestReceived');
    return true;
  }

  /** Whoever serves the request has let go of it, for now or for good: what happened until here is not kept any longer. */
  handOver(): void {
    if (this.#held) void this.#process([]);
  }

  /** The head of the answer is about to be sent. Of long-running requests that is a stage. */
  started(code: number): void {
    this.#responseStatus ??= { metadata: {} };
    this.#responseStatus['code'] = code;
    if (this.context.longRunning) void this.#emit('ResponseStarted');
  }

  /** An answer waits for its events to be written. It is the one that the client gets. */
  get holdsAnswer(): boolean {
    return this.#holdsAnswer;
  }

  get isDone(): boolean {
    return this.#done;
  }

  /** The whole answer is about to be sent: `send` does that, once the events were handed over. */
  completedBy(send: () => void): void {
    if (this.#done) return send();
    const events = this.#taken(this.#lastEvent());
    const { ofTurn, backend } = this.to;
    if (events.length === 0) return send();
    if (ofTurn) {
      this.#holdsAnswer = true;
      return ofTurn.processBefore(events, send);
    }
    void backend.process(events);
    send();
  }

  /** The whole answer was sent, or there will be none. */
  completed(): void {
    if (!this.#done) void this.#process(this.#lastEvent());
  }

  /** None where it is not wanted. */
  #lastEvent(): readonly StageEvent[] {
    this.#done = true;
    this.#responseStatus ??= { metadata: {}, status: 'Success', message: 'Connection closed early', code: 200 };
    const { receivedAt, longRunning, auditAnnotations } = this.context;
    const elapsed = performance.now() - receivedAt;
    if (elapsed > slowMs && !longRunning) auditAnnotations?.set('apiserver.latency.k8s.io/total', formatDuration(elapsed));
    return this.decision.omitStages.has('ResponseComplete') ? [] : [this.#event('ResponseComplete')];
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
    if (!this.decision.omitStages.has(stage)) return this.#process([this.#event(stage)]);
    this.handOver();
    return true;
  }

  #process(events: readonly StageEvent[]): boolean | Promise<boolean> {
    const all = this.#taken(events);
    return all.length === 0 || this.to.backend.process(all);
  }

  /** With the one that waited; counted. */
  #taken(events: readonly StageEvent[]): readonly StageEvent[] {
    const all = this.#held ? [this.#held, ...events] : events;
    this.#held = undefined;
    this.to.metrics.made(all.length);
    return all;
  }

  #event(stage: AuditStage): StageEvent {
    const { auditId, auditAnnotations } = this.context;
    return new StageEvent(
      this.decision.level,
      auditId,
      stage,
      this.#describe(),
      this.#responseStatus && { ...this.#responseStatus },
      this.#requestObject,
      this.#responseObject,
      this.#receivedAt,
      stage === 'RequestReceived' ? this.#receivedAt : wallTime(performance.now()),
      auditAnnotations?.size ? Object.fromEntries(auditAnnotations) : undefined,
    );
  }

  #describe(): AuditedRequest {
    const { context } = this;
    const { impersonator, impersonationConstraint } = context;
    const impersonated = impersonator ? context.user : undefined;
    const described = this.#described;
    if (described && Boolean(described.impersonatedUser) === Boolean(impersonated)) return described;
    const agent = context.header('user-agent');
    this.#described = new AuditedRequest(
      context.exchange.url,
      context.info.verb,
      userOf(impersonator ?? context.user),
      impersonated && userOf(impersonated),
      impersonated && impersonationConstraint !== '' ? { impersonationConstraint } : undefined,
      sourceIPsOf(context),
      agent && (agent.length > maxUserAgentLength ? `${agent.slice(0, maxUserAgentLength)}...TRUNCATED` : agent),
      this.#objectRef,
    );
    return this.#described;
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
