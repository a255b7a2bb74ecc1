/** API errors, each with a Status. Upstream: apimachinery/pkg/api/errors, and apiserver's negotiation errors. */
import type { GroupKind, GroupResource, Status, StatusCause, StatusDetails } from '../meta/types.ts';
import { recognizeCopies } from '../runtime/class-copies.ts';
import { quote } from '../runtime/quote.ts';
import { aggregateMessages, type FieldError, maxErrors, maxShown } from '../validation/field.ts';

/** An error that is answered with its Status and the status's code. Throw only those that the constructors below create. */
export class StatusError extends Error {
  override readonly name = 'StatusError';

  constructor(
    readonly status: Status,
    options?: ErrorOptions,
  ) {
    super(status.message ?? '', options);
  }

  static {
    recognizeCopies(StatusError);
  }
}

/** The zero value, for requests without a resource. */
const noResource: GroupResource = { group: '', resource: '' };

/** Formats `deployments.apps`, `pods`. */
export function groupResourceString({ group, resource }: GroupResource): string {
  return group ? `${resource}.${group}` : resource;
}

/** Formats `Deployment.apps`, `Pod`. */
export function groupKindString({ group, kind }: GroupKind): string {
  return group ? `${kind}.${group}` : kind;
}

function failure(code: number, reason: string, message: string, details?: StatusDetails): StatusError {
  return new StatusError(newStatus(code, reason, message, details));
}

/** Returns a Status with status Failure. An empty reason or message and empty details are omitted, as in its JSON. */
export function newStatus(code: number, reason: string, message: string, details?: StatusDetails): Status {
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    ...(message && { message }),
    ...(reason && { reason }),
    ...(details && { details }),
    code,
  };
}

/** Returns details in the order of the Go struct, without zero values. */
function details(of: StatusDetails): StatusDetails {
  const { name, group, kind, uid, causes, retryAfterSeconds } = of;
  return {
    ...(name && { name }),
    ...(group && { group }),
    ...(kind && { kind }),
    ...(uid && { uid }),
    ...(causes && causes.length > 0 && { causes }),
    ...(retryAfterSeconds && { retryAfterSeconds }),
  };
}

function resourceDetails({ group, resource }: GroupResource, name = ''): StatusDetails {
  return details({ name, group, kind: resource });
}

export function newNotFound(resource: GroupResource, name: string): StatusError {
  return failure(404, 'NotFound', `${groupResourceString(resource)} ${quote(name)} not found`, resourceDetails(resource, name));
}

/** `circumstance` precedes the message. */
export function newAlreadyExists(resource: GroupResource, name: string, circumstance = ''): StatusError {
  const message = `${circumstance}${groupResourceString(resource)} ${quote(name)} already exists`;
  return failure(409, 'AlreadyExists', message, resourceDetails(resource, name));
}

/** `circumstance` precedes the message. */
export function newGenerateNameConflict(resource: GroupResource, name: string, retryAfterSeconds: number, circumstance = ''): StatusError {
  const message = `${circumstance}${groupResourceString(resource)} ${quote(name)} already exists, the server was not able to generate a unique name for the object`;
  return failure(409, 'AlreadyExists', message, details({ name, group: resource.group, kind: resource.resource, retryAfterSeconds }));
}

export function newUnauthorized(reason: string): StatusError {
  return failure(401, 'Unauthorized', reason || 'not authorized');
}

/** Returns 403. `errText` is the reason, without the words "is forbidden". */
export function newForbidden(resource: GroupResource, name: string, errText: string): StatusError {
  const subject = groupResourceString(resource);
  let message = `forbidden: ${errText}`;
  if (subject) message = name ? `${subject} ${quote(name)} is forbidden: ${errText}` : `${subject} is forbidden: ${errText}`;
  return failure(403, 'Forbidden', message, resourceDetails(resource, name));
}

export function newConflict(resource: GroupResource, name: string, errText: string): StatusError {
  const message = `Operation cannot be fulfilled on ${groupResourceString(resource)} ${quote(name)}: ${errText}`;
  return failure(409, 'Conflict', message, resourceDetails(resource, name));
}

export function newApplyConflict(causes: readonly StatusCause[], message: string): StatusError {
  return failure(409, 'Conflict', message, details({ causes: [...causes] }));
}

/** Returns 410 for a resource version, or a continue token, that is too old. */
export function newResourceExpired(message: string): StatusError {
  return failure(410, 'Expired', message);
}

/** Returns 422. It lists the first 10,000 errors; `maxShown` limits the number and size of those that show large values. */
export function newInvalid({ group, kind }: GroupKind, name: string, allErrors: readonly FieldError[]): StatusError {
  const head = `${groupKindString({ group, kind })} ${quote(name)} is invalid`;
  const causes: StatusCause[] = [];
  const messages: string[] = [];
  const texts = new Map<object, string>();
  let shown = 0;
  for (const error of allErrors) {
    if (messages.length === maxErrors || shown > maxShown) break;
    const message = shortened(error.body(texts));
    shown += message.length;
    causes.push({ reason: error.type, message, ...(error.field && { field: error.field }) });
    messages.push(`${error.field}: ${message}`);
  }
  const message = messages.length > 0 ? `${head}: ${aggregateMessages(messages)}` : head;
  return failure(422, 'Invalid', message, details({ name, group, kind, causes }));
}

function shortened(message: string): string {
  return message.length > maxShown ? message.slice(0, maxShown).toWellFormed() : message;
}

export function newBadRequest(reason: string): StatusError {
  return failure(400, 'BadRequest', reason);
}

export function newTooManyRequests(message: string, retryAfterSeconds: number): StatusError {
  return failure(429, 'TooManyRequests', message, details({ retryAfterSeconds }));
}

/** Returns 429 without a delay for the retry. */
export function newTooManyRequestsError(message: string): StatusError {
  return failure(429, 'TooManyRequests', `Too many requests: ${message}`);
}

export function newServiceUnavailable(reason: string): StatusError {
  return failure(503, 'ServiceUnavailable', reason);
}

export function newMethodNotSupported(resource: GroupResource, action: string): StatusError {
  const message = `${action} is not supported on resources of kind ${quote(groupResourceString(resource))}`;
  return failure(405, 'MethodNotAllowed', message, resourceDetails(resource));
}

/** Returns 500 for an operation that the server could not run now: the client may retry. */
export function newServerTimeout(resource: GroupResource, operation: string, retryAfterSeconds: number): StatusError {
  const message = `The ${operation} operation against ${groupResourceString(resource)} could not be completed at this time, please try again.`;
  return failure(
    500,
    'ServerTimeout',
    message,
    details({ name: operation, group: resource.group, kind: resource.resource, retryAfterSeconds }),
  );
}

/** Returns 504: the outcome is unknown. */
export function newTimeoutError(message: string, retryAfterSeconds: number): StatusError {
  return failure(504, 'Timeout', `Timeout: ${message}`, details({ retryAfterSeconds }));
}

/**
 * The deadline of a request has passed: a status without a kind, as upstream's filter writes it. Upstream:
 * apiserver/pkg/server/filters/timeout.go.
 */
export class RequestTimeoutError extends StatusError {
  constructor() {
    super({ ...newTimeoutError('request did not complete within the allotted timeout', 0).status, kind: '', apiVersion: '' });
  }
}

/** Throws the error of chunked work whose request deadline has passed. */
export function endAtDeadline(): never {
  throw new RequestTimeoutError();
}

/** Returns 504 for a read at a resource version that the server has not seen yet. Upstream: apiserver/pkg/storage/errors.go. */
export function newTooLargeResourceVersion(minimum: number | bigint, current: number | bigint, retryAfterSeconds: number): StatusError {
  const message = `Timeout: Too large resource version: ${minimum}, current: ${current}`;
  return failure(
    504,
    'Timeout',
    message,
    details({
      causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
      retryAfterSeconds,
    }),
  );
}

export function newInternalError(error: Error | string): StatusError {
  const text = typeof error === 'string' ? error : error.message;
  const status = newStatus(500, 'InternalError', `Internal error occurred: ${text}`, details({ causes: [text ? { message: text } : {}] }));
  return typeof error === 'string' ? new StatusError(status) : new StatusError(status, { cause: error });
}

/**
 * Returns the error of a list with unreadable objects. Upstream: apiserver/pkg/storage/etcd3/corrupt_obj_deleter.go (NewAPIStatusError).
 */
export function newStorageReadError({ group, resource }: GroupResource, message: string, causes: readonly StatusCause[]): StatusError {
  return failure(500, 'StorageReadError', message, details({ name: 'list', group, kind: resource, causes: [...causes] }));
}

export function newRequestEntityTooLargeError(message: string): StatusError {
  return failure(413, 'RequestEntityTooLarge', `Request entity too large: ${message}`);
}

export function newUnsupportedMediaType(accepted: readonly string[]): StatusError {
  return failure(
    415,
    'UnsupportedMediaType',
    `the body of the request was in an unknown format - accepted media types include: ${accepted.join(', ')}`,
  );
}

export function newNotAcceptable(accepted: readonly string[]): StatusError {
  return failure(406, 'NotAcceptable', `only the following media types are accepted: ${accepted.join(', ')}`);
}

const genericResponses: Readonly<Record<number, readonly [reason: string, message: string]>> = {
  400: ['BadRequest', 'the server rejected our request for an unknown reason'],
  401: ['Unauthorized', 'the server has asked for the client to provide credentials'],
  404: ['NotFound', 'the server could not find the requested resource'],
  405: ['MethodNotAllowed', 'the server does not allow this method on the requested resource'],
  409: ['Conflict', 'the server reported a conflict'],
  422: ['Invalid', 'the server rejected our request due to an error in our request'],
  429: ['TooManyRequests', 'the server has received too many requests and has asked us to try again later'],
  503: ['ServiceUnavailable', 'the server is currently unable to handle the request'],
  504: ['Timeout', 'the server was unable to return a response in the time allotted, but may still be processing the request'],
};

function genericReasonAndMessage(code: number, verb: string, serverMessage: string): readonly [string, string] {
  if (code === 409 && verb === 'POST') return ['AlreadyExists', 'the server reported a conflict'];
  const known = genericResponses[code];
  if (known) return known;
  if (code === 403) return ['Forbidden', serverMessage];
  if (code === 406) {
    const named = serverMessage !== '' && serverMessage !== 'unknown';
    return ['NotAcceptable', named ? serverMessage : 'the server was unable to respond with a content type that the client supports'];
  }
  if (code === 415) return ['UnsupportedMediaType', serverMessage];
  if (code >= 500) return ['InternalError', `an error on the server (${quote(serverMessage)}) has prevented the request from succeeding`];
  return ['', `the server responded with the status code ${code} but did not return more information`];
}

/** Returns the Status of a response without a Status. `verb` is the HTTP method. */
export function newGenericServerResponse(
  code: number,
  verb: string,
  resource: GroupResource = noResource,
  name = '',
  serverMessage = '',
  retryAfterSeconds = 0,
  isUnexpectedResponse = false,
): StatusError {
  const [reason, text] = genericReasonAndMessage(code, verb, serverMessage);
  const subject = groupResourceString(resource);
  let message = text;
  if (subject) message += name ? ` (${verb.toLowerCase()} ${subject} ${name})` : ` (${verb.toLowerCase()} ${subject})`;
  const causes: StatusCause[] = [];
  if (isUnexpectedResponse) causes.push({ reason: 'UnexpectedServerResponse', ...(serverMessage && { message: serverMessage }) });
  return failure(code, reason, message, details({ name, group: resource.group, kind: resource.resource, causes, retryAfterSeconds }));
}

/** Returns the Status of an error or of its nearest cause. */
export function statusOf(error: unknown): Status | undefined {
  for (let current = error; current instanceof Error; current = current.cause) {
    if (current instanceof StatusError) return current.status;
  }
  return undefined;
}

const knownReasons: ReadonlySet<string> = new Set([
  'Unauthorized',
  'Forbidden',
  'NotFound',
  'AlreadyExists',
  'Conflict',
  'Gone',
  'Invalid',
  'ServerTimeout',
  'StorageReadError',
  'Timeout',
  'TooManyRequests',
  'BadRequest',
  'MethodNotAllowed',
  'NotAcceptable',
  'RequestEntityTooLarge',
  'UnsupportedMediaType',
  'InternalError',
  'Expired',
  'ServiceUnavailable',
]);

/** Returns a predicate on the reason; an error with an unknown reason is checked by its code. */
function has(reason: string, code?: number): (error: unknown) => boolean {
  return (error) => {
    const status = statusOf(error);
    if (!status) return false;
    if (status.reason === reason) return true;
    return code !== undefined && status.code === code && !knownReasons.has(status.reason ?? '');
  };
}

export const isNotFound = has('NotFound', 404);
export const isAlreadyExists = has('AlreadyExists');
export const isConflict = has('Conflict', 409);
export const isForbidden = has('Forbidden', 403);

/** True if the status has a cause of this type, such as `NamespaceTerminating`. */
export function hasStatusCause(error: unknown, type: string): boolean {
  return statusOf(error)?.details?.causes?.some((cause) => cause.reason === type) ?? false;
}

/** Returns the number of seconds after which the client should retry; undefined if the status has none. */
export function suggestsClientDelay(error: unknown): number | undefined {
  const status = statusOf(error);
  const seconds = status?.details?.retryAfterSeconds;
  if (status?.details && status.reason === 'ServerTimeout') return seconds ?? 0;
  return seconds || undefined;
}
