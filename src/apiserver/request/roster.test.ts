import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Place, Roster } from './roster.ts';

test('a roster contains the items that were added and not removed, in any order of additions and removals', () => {
  const step = fc.oneof(fc.constant('add' as const), fc.nat({ max: 20 }), fc.record({ modulo: fc.integer({ min: 2, max: 3 }) }));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const roster = new Roster<number>();
      const expected = new Set<number>();
      const places: Place<number>[] = [];
      for (const next of steps) {
        if (next === 'add') {
          places.push(roster.add(places.length));
          expected.add(places.length - 1);
        } else if (typeof next === 'number') {
          // Also an item that was removed before.
          const place = places[next];
          if (!place) continue;
          roster.remove(place);
          expected.delete(place.item);
        } else {
          const leaving = [...expected].filter((item) => item % next.modulo === 0);
          expect(roster.removeWhere((item) => item % next.modulo === 0).sort((a, b) => a - b)).toEqual(leaving.sort((a, b) => a - b));
          for (const item of leaving) expected.delete(item);
        }
        expect([...roster].sort((a, b) => a - b)).toEqual([...expected].sort((a, b) => a - b));
        expect(roster.size).toBe(expected.size);
      }
    }),
  );
});

test('removals during an iteration do not disturb it', () => {
  const roster = new Roster<string>();
  const places = ['a', 'b', 'c'].map((item) => roster.add(item));
  const seen: string[] = [];
  for (const item of roster) {
    seen.push(item);
    roster.remove(places[0]!);
  }
  expect(seen).toEqual(['a', 'b', 'c']);
  expect([...roster].sort()).toEqual(['b', 'c']);
});
