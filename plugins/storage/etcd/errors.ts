import { status, type ServiceError } from '@grpc/grpc-js';
import { NoSpaceError, UnavailableError, UnknownOutcomeError } from 'kubenest/sdk';

/** etcd's error for unreadable revisions. Upstream: etcd/api/v3rpc/rpctypes/error.go. */
export const compacted = 'etcdserver: mvcc: required revision has been compacted';
export const futureRevision = 'etcdserver: mvcc: required revision is a future revision';

/** etcd's error for writes (except deletions) without space. */
export const noSpace = 'etcdserver: mvcc: database space exceeded';
/**
 * The corresponding alarm in its status, until an administrator disarms it. Upstream:
 * etcd/server/etcdserver/api/v3rpc/maintenance.go, Status.
 */
export const noSpaceAlarm = /\balarm:\s*NOSPACE\b/;

/** Errors that mean that nothing was sent, or that etcd rejected it before proposing it to its peers. */
const notDone = [
  'No connection established',
  'Name resolution failed',
  'Failed to start HTTP/2 stream',
  'etcdserver: no leader',
  'etcdserver: not capable',
  'etcdserver: too many requests',
];

/** True if the server was unreachable or cannot serve, so that another may. */
export function isServerFailure({ code, details }: ServiceError): boolean {
  return code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED || notDone.some((start) => details.startsWith(start));
}

/** True if a failed call certainly had no effect. */
export function isNotDone({ details }: ServiceError): boolean {
  return notDone.some((start) => details.startsWith(start));
}

/**
 * Translates to the errors of the contract. `changes` is true if the call may have written. Other errors keep etcd's
 * message.
 */
export function translated(error: ServiceError, changes: boolean): Error {
  const message = `storage: etcd: ${error.details || error.message}`;
  if (error.details.startsWith(noSpace)) return new NoSpaceError(message, { cause: error });
  switch (error.code) {
    case status.OUT_OF_RANGE:
    case status.INVALID_ARGUMENT:
    case status.FAILED_PRECONDITION:
    case status.NOT_FOUND:
      return new Error(error.details, { cause: error });
    case status.UNAUTHENTICATED:
    case status.PERMISSION_DENIED:
    case status.UNIMPLEMENTED:
    case status.RESOURCE_EXHAUSTED:
      return new UnavailableError(message, { cause: error });
    default:
      return changes && !isNotDone(error)
        ? new UnknownOutcomeError(message, { cause: error })
        : new UnavailableError(message, { cause: error });
  }
}
