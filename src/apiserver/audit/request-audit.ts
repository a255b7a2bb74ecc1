import { newUnauthorized } from '#apimachinery/api/errors';
import { Buffer } from 'node:buffer';
import type { KubeObject, Status } from '#apimachinery/meta/types';
import { encode } from '#apimachinery/runtime/encode';
import { formatDuration } from '#apimachinery/runtime/duration';
import { encodeJson, parseJson } from '#apimachinery/runtime/json/json';
import type { StructType } from '#apimachinery/runtime/schema';
import { formatMicroTime } from '#apimachinery/runtime/time';
import type { AuditContext } from '#apiserver/request/audit-context';
import { headerText } from '#apiserver/request/exchange';
import type { UserInfo } from '#apiserver/request/user-info';
import { sourceIPsOf } from '#apiserver/request/source-ips';
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

/** Maximum length of a recorded user agent. Upstream: apiserver/pkg/audit/request.go. */
const maxUserAgentLength = 1024;
/** Duration from which a request's latency is annotated. */
const slowMs = 500;

/** Destination of the events of requests. */
export interface AuditOutlet {
  readonly backend: AuditBackend;
  /** Set if responses may wait until the end of the turn, so that their events are forwarded together. */
  readonly ofTurn: EventsOfTurn | undefined;
  readonly metrics: AuditMetrics;
  /**
   * True if a request must wait until its first event was accepted. Otherwise the first event of a read is held and
   * forwarded with the next.
   */
  readonly awaitsFirst: boolean;
}

/** Methods that do not modify anything. */
const readingMethods = new Set(['GET', 'HEAD']);

/**
 * Collects the audit data of a request and creates its events. No response is sent before the preceding events were
 * forwarded. A complete response waits for its `ResponseComplete` event, so that both events of a GET, and those of all
 * requests answered in the same turn, reach the backend in one call. Upstream: apiserver/pkg/audit/{context,request}.go.
 */
export class RequestAudit implements AuditContext {
  readonly #receivedAt: string;
  #objectRef: AuditedObject | undefined;
  /** The shared members of the last event. */
  #described: AuditedRequest | undefined;
  /** The first event while it is held for the next one. */
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

  /** True if the policy requires request objects. */
  get recordsRequest(): boolean {
    return auditLevels.indexOf(this.decision.level) >= auditLevels.indexOf('Request');
  }

  get recordsResponse(): boolean {
    return this.decision.level === 'RequestResponse';
  }

  /** Records the decoded object of a request in the sent version and completes the object reference from it. */
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

  /** Records a patch as sent and parsed; called only if required by the policy. */
  requestPatch(patch: unknown): void {
    this.#requestObject = encodeJson(patch);
  }

  responseStatus({ status, message, reason, details, code }: Status): void {
    this.#responseStatus = { metadata: {}, ...defined({ status, message, reason, details, code }) };
  }

  /** Records a response object as JSON; called only if required by the policy. */
  responseObject(json: Buffer): void {
    this.#responseObject = this.#withoutManagedFields(json.toString('utf8').trimEnd());
  }

  received(): boolean | Promise<boolean> {
    const { context, to } = this;
    if (to.awaitsFirst || context.longRunning || !readingMethods.has(context.method)) return this.#emit('RequestReceived');
    if (!this.decision.omitStages.has('RequestReceived')) this.#held = this.#event('RequestReceived');
    return true;
  }

  /** Forwards the held event; called when the handler has returned or started to wait. */
  handOver(): void {
    if (this.#held) void this.#process([]);
  }

  /** Called before the response head is sent, which is a stage of long-running requests. */
  started(code: number): void {
    this.#responseStatus ??= { metadata: {} };
    this.#responseStatus['code'] = code;
    if (this.context.longRunning) void this.#emit('ResponseStarted');
  }

  /** True while a response waits for its events. The client will receive that response. */
  get holdsAnswer(): boolean {
    return this.#holdsAnswer;
  }

  get isDone(): boolean {
    return this.#done;
  }

  /** Called when the complete response is ready: forwards the events, then calls `send`. */
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

  /** Called when the complete response was sent or will not be sent. */
  completed(): void {
    if (!this.#done) void this.#process(this.#lastEvent());
  }

  /** Returns the last event; empty if the policy omits it. */
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

  /** Records an unauthenticated request as a single event. */
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

  /** Returns the events with the held one first, and counts them. */
  #taken(events: readonly StageEvent[]): readonly StageEvent[] {
    const all = this.#held ? [this.#held, ...events] : events;
    this.#held = undefined;
    this.to.metrics.made(all.length);
    return all;
  }

  #event(stage: AuditStage): StageEvent {
    const { auditId, auditAnnotations } = this.context;
    return new StageEvent(this.#describe(), {
      level: this.decision.level,
      auditID: auditId,
      stage,
      responseStatus: this.#responseStatus && { ...this.#responseStatus },
      requestObject: this.#requestObject,
      responseObject: this.#responseObject,
      requestReceivedTimestamp: this.#receivedAt,
      stageTimestamp: stage === 'RequestReceived' ? this.#receivedAt : wallTime(performance.now()),
      annotations: auditAnnotations?.size ? Object.fromEntries(auditAnnotations) : undefined,
    });
  }

  #describe(): AuditedRequest {
    const { context } = this;
    const { impersonator, impersonationConstraint } = context;
    const impersonated = impersonator ? context.user : undefined;
    const described = this.#described;
    if (described && Boolean(described.members.impersonatedUser) === Boolean(impersonated)) return described;
    const agent = headerText(context.header('user-agent') ?? '');
    this.#described = new AuditedRequest({
      requestURI: context.exchange.url,
      verb: context.info.verb,
      user: userOf(impersonator ?? context.user),
      impersonatedUser: impersonated && userOf(impersonated),
      authenticationMetadata: impersonated && impersonationConstraint !== '' ? { impersonationConstraint } : undefined,
      sourceIPs: sourceIPsOf(context),
      userAgent: agent === '' ? undefined : agent.length > maxUserAgentLength ? `${agent.slice(0, maxUserAgentLength)}...TRUNCATED` : agent,
      objectRef: this.#objectRef,
    });
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

/** Returns the fields that have a value. */
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

/** Formats a monotonic time as RFC 3339 with microseconds. */
function wallTime(monotonic: number): string {
  const micros = Math.round((Date.now() - (performance.now() - monotonic)) * 1000);
  return formatMicroTime(Math.floor(micros / 1000), micros % 1000);
}
