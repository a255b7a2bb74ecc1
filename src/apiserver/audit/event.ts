/** audit.k8s.io/v1, as far as an event says. Upstream: apiserver/pkg/apis/audit/v1/types.go. */
export type AuditLevel = 'None' | 'Metadata' | 'Request' | 'RequestResponse';
export type AuditStage = 'RequestReceived' | 'ResponseStarted' | 'ResponseComplete' | 'Panic';

export const auditLevels: readonly AuditLevel[] = ['None', 'Metadata', 'Request', 'RequestResponse'];
export const auditStages: readonly AuditStage[] = ['RequestReceived', 'ResponseStarted', 'ResponseComplete', 'Panic'];

export interface AuditedUser {
  username?: string;
  uid?: string;
  groups?: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

export interface AuditedObject {
  resource?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  apiGroup?: string;
  apiVersion?: string;
  resourceVersion?: string;
  subresource?: string;
}

/** One stage of one request. Its members are in the order in which upstream writes them. */
export interface AuditEvent {
  level: AuditLevel;
  auditID: string;
  stage: AuditStage;
  requestURI: string;
  verb: string;
  user: AuditedUser;
  impersonatedUser: AuditedUser | undefined;
  authenticationMetadata: { impersonationConstraint: string } | undefined;
  sourceIPs: readonly string[] | undefined;
  userAgent: string | undefined;
  objectRef: AuditedObject | undefined;
  responseStatus: Readonly<Record<string, unknown>> | undefined;
  /** JSON as it is. */
  requestObject: string | undefined;
  responseObject: string | undefined;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations: Readonly<Record<string, string>> | undefined;
}

/** Where events go. */
export interface AuditBackend {
  readonly name: string;
  /** Takes events over; false where they are lost. Never throws. */
  process(events: readonly AuditEvent[]): boolean | Promise<boolean>;
  /** Resolves when all that was taken over is written. */
  shutDown(): Promise<void>;
}

/** An event as JSON, without a line end. */
export function eventJson(event: AuditEvent): string {
  const { requestObject, responseObject, requestReceivedTimestamp, stageTimestamp, annotations, ...head } = event;
  const parts = [JSON.stringify({ kind: 'Event', apiVersion: 'audit.k8s.io/v1', ...head }).slice(0, -1)];
  if (requestObject !== undefined) parts.push(`"requestObject":${requestObject}`);
  if (responseObject !== undefined) parts.push(`"responseObject":${responseObject}`);
  parts.push(`"requestReceivedTimestamp":"${requestReceivedTimestamp}","stageTimestamp":"${stageTimestamp}"`);
  if (annotations) parts.push(`"annotations":${JSON.stringify(annotations)}`);
  // Line ends inside objects would end the line of the log.
  return `${parts.join(',')}}`.replaceAll('\n', '');
}
