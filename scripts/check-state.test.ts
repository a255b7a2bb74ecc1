import { expect, it } from 'vitest';
import { documentedState, stateOf } from './check-state.mjs';

it.each([
  { source: 'let count = 0;', want: ['count'] },
  { source: 'export let a: number | undefined, b = 1;', want: ['a', 'b'] },
  { source: 'const cache = new Map<string, number>();', want: ['cache'] },
  { source: 'const known: WeakSet<object> = new WeakSet();', want: ['known'] },
  { source: 'const list: string[] = [];', want: ['list'] },
  { source: 'export const budgets = { bodies: new SharedBudget(1), lists: 2 } as const;', want: ['budgets'] },
  { source: "const names = new Set(['a']);", want: [] },
  { source: 'const none: ReadonlySet<string> = new Set();', want: [] },
  { source: 'const none: readonly string[] = [];', want: [] },
  { source: 'const pattern = new RegExp(text);', want: [] },
  { source: 'const create = () => new Map();', want: [] },
  { source: 'function f() { let local = 0; return new Map([[local, 1]]); }', want: [] },
])('finds $want in $source', ({ source, want }) => {
  expect(stateOf(source)).toEqual(want);
});

it('reads the files and variables of the tables', () => {
  const page = '# State\n\n| file | variables | what |\n| --- | --- | --- |\n| `src/a.ts` | `b`, `c` | `d` |\n\nText with `src/x.ts`.\n';
  expect(documentedState(page)).toEqual(['src/a.ts: b', 'src/a.ts: c']);
});
