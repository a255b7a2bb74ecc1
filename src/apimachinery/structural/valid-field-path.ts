import { Path } from '../validation/field.ts';
import type { Structural } from './structural.ts';

/** Error for a path that does not lead to a field of the schema; the message has the reason. */
export class FieldPathError extends Error {
  override readonly name = 'FieldPathError';
}

export interface ValidFieldPath {
  readonly path: Path;
  /** Name of the first segment. */
  readonly root: string;
  readonly schema: Structural;
}

const escapes: Readonly<Record<string, string>> = { a: '\x07', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t', v: '\v', "'": "'", '\\': '\\' };

/** Splits into `.`, `[`, `]`, single-quoted strings, and the text between them. */
function tokensOf(text: string): string[] {
  return text.match(/[.[\]]|'(?:[^'\\]|\\.)*'|[^.[\]']+|'.*/gs) ?? [];
}

/**
 * Resolves a simple JSON path (`.spec.list`, `.spec['a.b']`) in a schema. Throws FieldPathError if it does not exist. Upstream:
 * apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go (ValidFieldPath).
 */
export function validFieldPath(text: string, schema: Structural, { arrayNotation = true } = {}): ValidFieldPath {
  let path: Path | undefined;
  let root = '';
  let at = schema;
  const tokens = tokensOf(text).values();
  const next = (): string => {
    const { value, done } = tokens.next();
    if (done) throw new FieldPathError('unexpected end of JSON path');
    return value;
  };
  const step = (name: string): void => {
    if (at.properties.size > 0) {
      const property = at.properties.get(name);
      if (!property) throw new FieldPathError('does not refer to a valid field');
      path = path ? path.child(name) : new Path(name);
      at = property;
    } else if (at.additionalProperties) {
      path = path ? path.key(name) : new Path(name, undefined, true);
      at = at.additionalProperties;
    } else throw new FieldPathError('does not refer to a valid field');
    root ||= name;
  };
  for (const token of tokens) {
    if (token === '.') step(next());
    else if (token === '[') {
      if (!arrayNotation) throw new FieldPathError('array notation is not allowed');
      const quoted = next();
      if (!/^'.*'$/s.test(quoted) || quoted.length < 2) throw new FieldPathError(`expected single quoted string but got ${quoted}`);
      step(quoted.slice(1, -1).replace(/\\(.)/gs, (all, escaped: string) => escapes[escaped] ?? all));
      const closing = next();
      if (closing !== ']') throw new FieldPathError(`expected ] but got ${closing}`);
    } else throw new FieldPathError(`expected [ or . but got: ${token}`);
  }
  if (!path) throw new FieldPathError('does not refer to a valid field');
  return { path, root, schema: at };
}
