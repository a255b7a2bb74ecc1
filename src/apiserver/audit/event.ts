import { encodeJson, encodeRawJson, encodeString } from '#apimachinery/runtime/json/json';

/** Types of audit.k8s.io/v1 used by events. Upstream: apiserver/pkg/apis/audit/v1/types.go. */
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

/** One stage of a request. Members are in upstream's order. */
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
  /** The request object as unmodified JSON. */
  requestObject: string | undefined;
  responseObject: string | undefined;
  requestReceivedTimestamp: string;
  stageTimestamp: string;
  annotations: Readonly<Record<string, string>> | undefined;
}

/** A receiver of audit events. */
export interface AuditBackend {
  readonly name: string;
  /** Accepts events; returns false if they are lost. Never throws. */
  process(events: readonly AuditEvent[]): boolean | Promise<boolean>;
  /** Resolves when all accepted events are written. */
  shutDown(): Promise<void>;
}

/** The members that the events of a request share. */
export type RequestMembers = Readonly<
  Pick<AuditEvent, 'requestURI' | 'verb' | 'user' | 'impersonatedUser' | 'authenticationMetadata' | 'sourceIPs' | 'userAgent' | 'objectRef'>
>;

/**
 * The shared members of the events of a request, created and encoded once. When they change (for example by impersonation), a new instance
 * is created.
 */
export class AuditedRequest {
  #json: string | undefined;

  constructor(readonly members: RequestMembers) {}

  /** The encoded members, which are in the middle of an event. */
  get json(): string {
    return (this.#json ??= requestJson(this.members));
  }
}

/** The members of an event that its request's other events do not share. */
export type StageDetails = Omit<AuditEvent, keyof RequestMembers>;

/** An event that refers to the shared members of its request. */
export class StageEvent implements AuditEvent {
  readonly level: AuditLevel;
  readonly auditID: string;
  readonly stage: AuditStage;
  readonly responseStatus: AuditEvent['responseStatus'];
  readonly requestObject: string | undefined;
  readonly responseObject: string | undefined;
  readonly requestReceivedTimestamp: string;
  readonly stageTimestamp: string;
  readonly annotations: AuditEvent['annotations'];
  readonly requestURI: string;
  readonly verb: string;
  readonly user: AuditedUser;
  readonly impersonatedUser: AuditedUser | undefined;
  readonly authenticationMetadata: { impersonationConstraint: string } | undefined;
  readonly sourceIPs: readonly string[] | undefined;
  readonly userAgent: string | undefined;
  readonly objectRef: AuditedObject | undefined;
  readonly #request: AuditedRequest;

  constructor(request: AuditedRequest, details: StageDetails) {
    this.level = details.level;
    this.auditID = details.auditID;
    this.stage = details.stage;
    this.responseStatus = details.responseStatus;
    this.requestObject = details.requestObject;
    this.responseObject = details.responseObject;
    this.requestReceivedTimestamp = details.requestReceivedTimestamp;
    this.stageTimestamp = details.stageTimestamp;
    this.annotations = details.annotations;
    const { members } = request;
    this.requestURI = members.requestURI;
    this.verb = members.verb;
    this.user = members.user;
    this.impersonatedUser = members.impersonatedUser;
    this.authenticationMetadata = members.authenticationMetadata;
    this.sourceIPs = members.sourceIPs;
    this.userAgent = members.userAgent;
    this.objectRef = members.objectRef;
    this.#request = request;
  }

  get requestJson(): string {
    return this.#request.json;
  }
}

/** Encodes an event as JSON without a newline, byte-identical to Go's json.Marshal of upstream's type. */
export function eventJson(event: AuditEvent): string {
  const { responseStatus, requestObject, responseObject, annotations } = event;
  let json = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","level":"${event.level}","auditID":${encodeString(event.auditID)},"stage":"${event.stage}",`;
  json += event instanceof StageEvent ? event.requestJson : requestJson(event);
  if (responseStatus) json += `,"responseStatus":${encodeRawJson(responseStatus)}`;
  // A newline inside an object would end the log line.
  if (requestObject !== undefined) json += `,"requestObject":${requestObject.replaceAll('\n', '')}`;
  if (responseObject !== undefined) json += `,"responseObject":${responseObject.replaceAll('\n', '')}`;
  json += `,"requestReceivedTimestamp":"${event.requestReceivedTimestamp}","stageTimestamp":"${event.stageTimestamp}"`;
  if (annotations) json += `,"annotations":${encodeJson(annotations)}`;
  return `${json}}`;
}

function requestJson(request: RequestMembers): string {
  const { impersonatedUser, authenticationMetadata, sourceIPs, userAgent, objectRef } = request;
  let json = `"requestURI":${encodeString(request.requestURI)},"verb":${encodeString(request.verb)},"user":${userJson(request.user)}`;
  if (impersonatedUser) json += `,"impersonatedUser":${userJson(impersonatedUser)}`;
  if (authenticationMetadata) json += `,"authenticationMetadata":${encodeRawJson(authenticationMetadata)}`;
  if (sourceIPs?.length) json += `,"sourceIPs":${stringsJson(sourceIPs)}`;
  if (userAgent) json += `,"userAgent":${encodeString(userAgent)}`;
  if (objectRef) json += `,"objectRef":${encodeRawJson(objectRef)}`;
  return json;
}

function userJson({ username, uid, groups, extra }: AuditedUser): string {
  const members: string[] = [];
  if (username !== undefined) members.push(`"username":${encodeString(username)}`);
  if (uid !== undefined) members.push(`"uid":${encodeString(uid)}`);
  if (groups) members.push(`"groups":${stringsJson(groups)}`);
  if (extra) members.push(`"extra":${encodeJson(extra)}`);
  return `{${members.join(',')}}`;
}

function stringsJson(texts: readonly string[]): string {
  return `[${texts.map(encodeString).join(',')}]`;
}
