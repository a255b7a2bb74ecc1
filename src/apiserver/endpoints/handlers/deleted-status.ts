import type { Status, StatusDetails } from '#apimachinery/meta/types';

/** Returns the response to a deletion that does not return the object. */
export function newStatusSuccess(details: StatusDetails, code?: number): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details, ...(code !== undefined && { code }) } as Status;
}
