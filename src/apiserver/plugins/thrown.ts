import { StatusError } from '#apimachinery/api/errors';
import type { Status, StatusDetails } from '#apimachinery/meta/types';
import { plainCopySteps } from '#apimachinery/runtime/plain-data';
import { atOnce } from '#apimachinery/runtime/steps';

/** Maximum length of a denial as JSON: clients get it, and logs and audit events contain it. */
const maxDenialLength = 262_144;

/**
 * Returns the denial that an error of a plugin is, with a copy of its Status, so that accessors cannot change it later; undefined if the
 * error is no denial: its Status is a success, cannot be encoded, or is too long.
 */
export function denialOf(error: Error): StatusError | undefined {
  try {
    if (!(error instanceof StatusError)) return undefined;
    const status = atOnce(plainCopySteps(error.status));
    if (!isFailure(status) || JSON.stringify(status).length > maxDenialLength) return undefined;
    const denial = new StatusError(status, { cause: error.cause });
    if (error.stack !== undefined) denial.stack = error.stack;
    return denial;
  } catch {
    return undefined;
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
