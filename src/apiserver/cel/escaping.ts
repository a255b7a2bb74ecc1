/** Escaping of property names as CEL identifiers. Upstream: apiserver/pkg/cel/escaping.go. */

const reserved: ReadonlySet<string> = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);

/** True if the word cannot be an identifier. */
export function isReserved(word: string): boolean {
  return reserved.has(word);
}

const escapes: Readonly<Record<string, string>> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };
const unescapes: Readonly<Record<string, string>> = { underscores: '__', dot: '.', dash: '-', slash: '/' };

/** Escapes a property name to an identifier; undefined if that is impossible. */
export function escape(name: string): string | undefined {
  if (!/^[A-Za-z_./-][A-Za-z0-9_./-]*$/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (part) => escapes[part]!);
}

/** Returns the property name of an escaped identifier; undefined if it is not one. */
export function unescape(identifier: string): string | undefined {
  if (!identifier.includes('__')) return identifier;
  let valid = true;
  const name = identifier.replace(/__[^_]+__/g, (part) => {
    const content = part.slice(2, -2);
    const plain = Object.hasOwn(unescapes, content) ? unescapes[content] : undefined;
    if (plain !== undefined) return plain;
    if (!reserved.has(content) || part.length !== identifier.length) valid = false;
    return content;
  });
  return valid ? name : undefined;
}
