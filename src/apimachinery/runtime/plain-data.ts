import { isJsonObject, type JsonObject, setOwn } from '#apimachinery/patch/own-property';
import { Float64 } from './numbers.ts';
import type { Steps } from './steps.ts';
import { keysOf, notedKeys, noteKeys } from './wide-objects.ts';

/** Thrown for a value that JSON does not have. The message starts with the path, which is empty for the root. */
export class NotPlainError extends Error {
  override readonly name = 'NotPlainError';
}

/** Depth up to which Go decodes JSON. Deeper values, and values that contain themselves, are rejected. */
const maxDepth = 10_000;
const valuesPerStep = 1_024;

/** A container whose members are still to be copied. `parent` and `key` give its path. */
interface Pending {
  readonly from: object;
  readonly to: unknown[] | JsonObject;
  readonly parent: Pending | undefined;
  readonly key: string | number;
  readonly depth: number;
}

/**
 * Copies a value from code outside of the server, and shares nothing with it. Objects, lists, strings, booleans, null and the numbers of
 * parsed JSON (see numbers.ts) are accepted; undefined properties are left out. Throws NotPlainError for anything else: functions, symbols,
 * class instances, NaN, undefined in lists, cycles. Yields to the event loop.
 */
export function* plainCopySteps<T extends object>(value: T): Steps<T> {
  const { shell, fault } = shellOf(value);
  if (!shell) throw new NotPlainError(`the object ${fault}`);
  const pending: Pending[] = [{ from: value, to: shell, parent: undefined, key: '', depth: 0 }];
  let copied = 0;
  for (let at = pending.pop(); at; at = pending.pop()) {
    const { from, to } = at;
    if (at.depth > maxDepth) throw new NotPlainError(`${pathTo(topOf(at), '')} is nested too deeply or contains itself`);
    for (const key of Array.isArray(from) ? from.keys() : keysOf(from)) {
      if (++copied % valuesPerStep === 0) yield;
      const item = (from as JsonObject)[key];
      if (item === undefined && !Array.isArray(to)) continue;
      setItem(to, key, isScalar(item) ? item : containerOf(item, key, at, pending));
    }
    if (!Array.isArray(to)) noteKeys(to, keysOf(from));
  }
  return shell as T;
}

function setItem(to: unknown[] | JsonObject, key: string | number, item: unknown): void {
  if (Array.isArray(to)) to[key as number] = item;
  else setOwn(to, key as string, item);
}

function isScalar(value: unknown): boolean {
  switch (typeof value) {
    case 'string':
    case 'boolean':
    case 'bigint':
      return true;
    case 'number':
      return Number.isFinite(value);
    default:
      return value === null || value instanceof Float64;
  }
}

/** Returns an empty container like a member, which is filled later. Throws NotPlainError. */
function containerOf(item: unknown, key: string | number, parent: Pending, pending: Pending[]): unknown {
  const { shell, fault } = shellOf(item);
  if (!shell) throw new NotPlainError(`${pathTo(parent, key)} ${fault}`);
  pending.push({ from: item as object, to: shell, parent, key, depth: parent.depth + 1 });
  return shell;
}

/** Returns an empty container of the same sort, or why the value is not plain data. */
function shellOf(value: unknown): { readonly shell?: unknown[] | JsonObject; readonly fault?: string } {
  if (Array.isArray(value)) return { shell: [] };
  if (typeof value === 'number') return { fault: `is ${value}` };
  if (value === undefined) return { fault: 'is undefined' };
  if (!isJsonObject(value)) return { fault: `is a ${typeof value}` };
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === null || prototype === Object.prototype || notedKeys(value)) return { shell: {} };
  return { fault: `is an instance of ${(prototype as Partial<object>).constructor?.name ?? 'a class'}` };
}

function pathTo(parent: Pending, key: string | number): string {
  const own = typeof key === 'number' ? `[${key}]` : key && `.${key}`;
  let path = own;
  for (let at: Pending | undefined = parent; at?.parent; at = at.parent)
    path = `${typeof at.key === 'number' ? `[${at.key}]` : `.${at.key}`}${path}`;
  return path.startsWith('.') ? path.slice(1) : path;
}

/** Returns the ancestor that is close enough to the root for a readable path. */
function topOf(at: Pending): Pending {
  let top = at;
  while (top.depth > 3 && top.parent) top = top.parent;
  return top;
}
