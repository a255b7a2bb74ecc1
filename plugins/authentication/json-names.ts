const token = /"(?:[^"\\]|\\.)*"|[{}[\],]/gs;
/** Maximum nesting in Go. Upstream: encoding/json. */
const maxDepth = 10_000;

/** An open object or list, with the object's names so far. */
interface Open {
  readonly names: Set<string> | undefined;
  readonly path: readonly string[];
}

/**
 * Returns a duplicate member name of a JSON text; undefined if there is none. `isRead` selects the objects to check by their
 * path. A text nested too deeply for Go returns `''`.
 */
export function repeatedName(text: string, isRead: (path: readonly string[]) => boolean): string | undefined {
  const open: Open[] = [];
  let expectsName = false;
  let name = '';
  for (const [match] of text.matchAll(token)) {
    const inside = open.at(-1);
    if (match === '{' || match === '[') {
      if (open.length >= maxDepth) return '';
      const path = inside ? [...inside.path.slice(-3), inside.names ? name : '[]'] : [];
      open.push({ names: match === '{' && isRead(path) ? new Set() : undefined, path });
      expectsName = match === '{';
    } else if (match === ',') expectsName = inside?.names !== undefined;
    else if (match === '}' || match === ']') open.pop();
    else if (expectsName && inside?.names) {
      name = JSON.parse(match) as string;
      if (inside.names.has(name)) return name;
      inside.names.add(name);
      expectsName = false;
    }
  }
  return undefined;
}
