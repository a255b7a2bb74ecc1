import { StatusError } from '#apimachinery/api/errors';
import type { Status, StatusDetails } from '#apimachinery/meta/types';
import { plainCopySteps } from '#apimachinery/runtime/plain-data';
import { atOnce } from '#apimachinery/runtime/steps';

/** True for an error whose Status refuses a request. A plugin's Status must not be a success, and must be one that can be encoded. */
export function isDenial(error: Error): error is StatusError {
  try {
    return error instanceof StatusError && isFailure(atOnce(plainCopySteps(error.status)));
  } catch {
    return false;
  }
}

function isFailure({ kind, apiVersion, status, message, reason, details, code }: Status): boolean {
  return (
    kind === 'Status' &&
    apiVersion === 'v1' &&
    status === 'Failure' &&
    isText(message) &&
    isText(reason) &&
    isDetails(details) &&
    isIntegerBetween(code, 400, 599)
  );
}

function isDetails(details: StatusDetails | undefined): boolean {
  if (details === undefined) return true;
  const { name, group, kind, uid, causes = [], retryAfterSeconds = 0 } = details;
  return (
    [name, group, kind, uid].every(isText) &&
    isIntegerBetween(retryAfterSeconds, 0, 2 ** 31 - 1) &&
    causes.every((cause) => isText(cause.reason) && isText(cause.message) && isText(cause.field))
  );
}

function isText(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}

function isIntegerBetween(value: number, least: number, most: number): boolean {
  return Number.isInteger(value) && value >= least && value <= most;
}
