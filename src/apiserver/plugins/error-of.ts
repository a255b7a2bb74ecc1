import { isProxy } from 'node:util/types';
import { quote } from '#apimachinery/runtime/quote';

/** Returns what a plugin threw, or an error in its place if it is none, or none that can be read. */
export function errorOf(thrown: unknown): Error {
  try {
    if (!isProxy(thrown) && thrown instanceof Error && typeof thrown.message === 'string' && isStack(thrown.stack)) return thrown;
  } catch {
    // A getter or a prototype of it throws.
  }
  return new Error(`threw ${textOf(thrown)}`);
}

function textOf(thrown: unknown): string {
  if (typeof thrown === 'string') return quote(thrown);
  if (typeof thrown === 'function') return 'a function';
  if (typeof thrown !== 'object' || thrown === null) return String(thrown);
  return 'an object that is not an error';
}

function isStack(value: unknown): boolean {
  return value === undefined || typeof value === 'string';
}
