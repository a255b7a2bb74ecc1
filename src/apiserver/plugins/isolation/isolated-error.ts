import { StatusError } from '#apimachinery/api/errors';
import { NotPlainError } from '#apimachinery/runtime/plain-data';
import type { IsolatedError } from './messages.ts';

/** Returns an error as plain data for another thread. */
export function isolatedError(error: unknown): IsolatedError {
  if (error instanceof StatusError) return { message: error.message, stack: error.stack, status: error.status };
  if (!(error instanceof Error)) return { message: String(error) };
  return { message: error.message, stack: error.stack, notPlain: error instanceof NotPlainError };
}

/** Restores an error of another thread, with its stack. */
export function restoredError({ message, stack, status, notPlain }: IsolatedError): Error {
  const error = status ? new StatusError(status) : notPlain ? new NotPlainError(message) : new Error(message);
  if (stack !== undefined) error.stack = stack;
  return error;
}
