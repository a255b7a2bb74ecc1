import type { Status, StatusDetails } from '#apimachinery/meta/types';

/** The answer to a deletion that is not answered with the object. */
export function newStatusSuccess(details: StatusDetails, code?: number): Status {
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details, ...(code !== undefined && { code }) } as Status;
}
