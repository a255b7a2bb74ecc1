import { status, type ServiceError } from '@grpc/grpc-js';
import { NoSpaceError, UnavailableError, UnknownOutcomeError } from 'kubenest/sdk';

/** What etcd answers where a revision cannot be read. Upstream: etcd/api/v3rpc/rpctypes/error.go. */
export const compacted = 'etcdserver: mvcc: required revision has been compacted';
export const futureRevision = 'etcdserver: mvcc: required revision is a future revision';

/** What etcd answers to writes but deletions while it has no room. */
export const noSpace = 'etcdserver: mvcc: database space exceeded';
/** The same in its status, until an administrator takes the alarm back. Upstream: etcd/server/etcdserver/api/v3rpc/maintenance.go, Status. */
export const noSpaceAlarm = /\balarm:\s*NOSPACE\b/;

/** What means that nothing was sent, or that etcd refused before it asked the others. */
const notDone = [
  'No connection established',
  'Name resolution failed',
  'Failed to start HTTP/2 stream',
  'etcdserver: no leader',
  'etcdserver: not capable',
  'etcdserver: too many requests',
];

/** Whether the server was not reached, or cannot serve: another may. */
export function isServerFailure({ code, details }: ServiceError): boolean {
  return code === status.UNAVAILABLE || code === status.DEADLINE_EXCEEDED || notDone.some((start) => details.startsWith(start));
}

/** Whether what was asked for has certainly not happened, though the server failed. */
export function isNotDone({ details }: ServiceError): boolean {
  return notDone.some((start) => details.startsWith(start));
}

/** The errors of the contract. `changes`: whether the call may have written something. Others stay as they are, with etcd's words. */
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
