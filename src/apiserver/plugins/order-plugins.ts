/** A plugin and where it wants to stand. */
export interface Placed {
  readonly name: string;
  readonly before?: readonly string[] | undefined;
  readonly after?: readonly string[] | undefined;
}

/**
 * Puts plugins into the fixed order of the built-in ones. One that says nothing stands before `anchor` (or last, if there is
 * none), so that policies, webhooks and quotas see what it did; those that say nothing keep their own order.
 *
 *     built-in A B C, anchor C; X {}, Y { before: [A] }, Z { after: [C] }   ->   Y A B X C Z
 *
 * `known`: all names that could be there; one that is not on puts no one in a place. Throws for names that nobody has, for
 * names that two have, and for wishes that contradict each other, with the names.
 */
export function orderPlugins(
  builtin: readonly string[],
  added: readonly Placed[],
  anchor: string | undefined,
  known: ReadonlySet<string>,
): string[] {
  const names = new Set(builtin);
  for (const { name } of added) {
    if (names.has(name) || known.has(name)) throw new Error(`there are two plugins named ${name}`);
    names.add(name);
  }
  const follows = new Map<string, Set<string>>([...names].map((name) => [name, new Set()]));
  const place = (first: string, second: string): void => {
    if (names.has(first) && names.has(second)) follows.get(second)?.add(first);
  };
  for (const [i, name] of builtin.entries()) if (i > 0) place(builtin[i - 1] as string, name);
  const unplaced = added.filter(({ before = [], after = [] }) => before.length === 0 && after.length === 0);
  for (const { name, before = [], after = [] } of added) {
    for (const other of [...before, ...after])
      if (!names.has(other) && !known.has(other)) throw new Error(`plugin ${name} is to stand beside ${other}, and no plugin is named so`);
    for (const other of before) place(name, other);
    for (const other of after) place(other, name);
  }
  const at = anchor === undefined ? -1 : builtin.indexOf(anchor);
  for (const { name } of unplaced) {
    if (at >= 0) place(name, builtin[at] as string);
    if (at !== 0) place((at < 0 ? builtin.at(-1) : builtin[at - 1]) ?? '', name);
  }
  return sorted([...added.map(({ name }) => name), ...builtin], follows);
}

/** Each after all that it follows, and else the first of the names first. */
function sorted(names: readonly string[], follows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const order: string[] = [];
  const left = new Set(names);
  while (left.size > 0) {
    const next = [...left].find((name) => [...(follows.get(name) ?? [])].every((other) => !left.has(other)));
    if (next === undefined) throw new Error(`the order of the plugins ${[...left].sort().join(', ')} contradicts itself`);
    left.delete(next);
    order.push(next);
  }
  return order;
}
