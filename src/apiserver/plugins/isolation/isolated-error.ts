import { StatusError } from '#apimachinery/api/errors';
import { NotPlainError } from '#apimachinery/runtime/plain-data';
import { errorOf } from '../error-of.ts';
import { denialOf } from '../thrown.ts';
import type { IsolatedError } from './messages.ts';

/** Returns an error as plain data for another thread. */
export function isolatedError(thrown: unknown): IsolatedError {
  const error = errorOf(thrown);
  const denial = denialOf(error);
  if (denial) return { message: denial.message, stack: denial.stack, status: denial.status };
  return { message: error.message, stack: error.stack, notPlain: error instanceof NotPlainError };
}

/** Restores an error of another thread, with its stack. */
export function restoredError({ message, stack, status, notPlain }: IsolatedError): Error {
  const error = status ? new StatusError(status) : notPlain ? new NotPlainError(message) : new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
