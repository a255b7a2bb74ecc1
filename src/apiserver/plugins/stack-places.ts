import { fileURLToPath } from 'node:url';

/** A place that a stack names. */
interface StackPlace {
  /** Absolute path. */
  readonly file: string;
  readonly line: string;
}

/** Returns the places in files that the stack of an error names, innermost first, without Node's own modules. */
export function stackPlaces(stack: string): StackPlace[] {
  return [...stack.matchAll(/(?:^|[\s(])((?:file:\/\/)?\/[^\s():]+):(\d+)/g)].map(([, path = '', line = '']) => ({
    file: path.startsWith('file:') ? fileURLToPath(path) : path,
    line,
  }));
}
