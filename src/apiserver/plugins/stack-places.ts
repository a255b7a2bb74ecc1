import { fileURLToPath } from 'node:url';
import { errorOf } from './error-of.ts';

/** A place in the stack of an error. */
interface StackPlace {
  /** Absolute path. */
  readonly file: string;
  readonly line: string;
}

/** Returns the places in files that the stack of an error names, innermost first, without Node's own modules. */
export function stackPlaces(error: unknown): StackPlace[] {
  const { stack = '' } = errorOf(error);
  return [...stack.matchAll(/[\s(]((?:file:\/\/)?\/[^\s():]+):(\d+)/g)].map(([, path = '', line = '']) => ({
    file: path.startsWith('file:') ? fileURLToPath(path) : path,
    line,
  }));
}
