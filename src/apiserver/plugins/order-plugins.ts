/** A plugin with its ordering constraints. */
export interface Placed {
  readonly name: string;
  readonly before?: readonly string[] | undefined;
  readonly after?: readonly string[] | undefined;
}

/**
 * Inserts plugins into the fixed order of the built-in ones. A plugin without constraints comes before `anchor` (or last
 * without an anchor), so that policies, webhooks and quotas see its changes; plugins without constraints keep their own
 * order.
 *
 *     built-in A B C, anchor C; X {}, Y { before: [A] }, Z { after: [C] }   ->   Y A B X C Z
 *
 * `known` lists all existing names; constraints on a disabled plugin have no effect. Throws for unknown names, duplicate
 * names and contradictory constraints, and names the plugins.
 */
export function orderPlugins(
  builtin: readonly string[],
  added: readonly Placed[],
  anchor: string | undefined,
  known: ReadonlySet<string>,
): string[] {
  const names = new Set(builtin);
  for (const { name } of added) {
    if (names.has(name) || known.has(name)) throw new Error(`duplicate plugin name ${name}`);
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
      if (!names.has(other) && !known.has(other)) throw new Error(`plugin ${name}: \`before\`/\`after\` names unknown plugin ${other}`);
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

/** Sorts topologically; among unconstrained names the given order is kept. */
function sorted(names: readonly string[], follows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const order: string[] = [];
  const left = new Set(names);
  while (left.size > 0) {
    const next = [...left].find((name) => [...(follows.get(name) ?? [])].every((other) => !left.has(other)));
    if (next === undefined) throw new Error(`\`before\` and \`after\` contradict each other: ${cycleIn(left, follows).join(', ')}`);
    left.delete(next);
    order.push(next);
  }
  return order;
}

/** Returns the constraints of a cycle among names that cannot be sorted: `X after B`, `B after A`, `A after X`. */
function cycleIn(left: ReadonlySet<string>, follows: ReadonlyMap<string, ReadonlySet<string>>): string[] {
  const path: string[] = [];
  let name = [...left][0] as string;
  while (!path.includes(name)) {
    path.push(name);
    name = [...(follows.get(name) ?? [])].find((other) => left.has(other)) as string;
  }
  const cycle = path.slice(path.indexOf(name));
  return cycle.map((one, i) => `${one} runs after ${cycle[i + 1] ?? name}`);
}
