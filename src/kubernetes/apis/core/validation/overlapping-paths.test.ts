import fc from 'fast-check';
import { expect, it } from 'vitest';
import { podWarnings } from './pod-warnings.ts';
import { overlappingPaths, type VolumeFile } from './overlapping-paths.ts';
import { threadMilliseconds } from '#apimachinery/testing/thread-time';

const files = (...paths: string[]): VolumeFile[] => paths.map((path) => ({ path, source: '' }));

it.each<[string, readonly VolumeFile[], string[]]>([
  ['different paths', files('a', 'b', 'ab'), []],
  ['the same path', files('a', 'a/'), ['"a" with "a"']],
  ['a path below another', files('a', 'b/c', 'a/d', 'b'), ['"a/d" with "a"', '"b" with "b/c"']],
  ['no path', files('', '/', 'a'), []],
  [
    'several sources',
    [
      { path: 'a', source: 'Secret "s"' },
      { path: 'a', source: 'ConfigMap "c"' },
    ],
    ['"a" (ConfigMap "c") with "a" (Secret "s")'],
  ],
])('%s', (_, given, want) => {
  expect(overlappingPaths(given)).toEqual(want);
});

/** Compares each file with all before it, as upstream does. */
function comparingAll(given: readonly VolumeFile[]): string[] {
  const text = ({ path, source }: VolumeFile): string => (source ? `"${path}" (${source})` : `"${path}"`);
  const trimmed = given.map(({ path, source }) => ({ path: path.replace(/\/+$/, ''), source }));
  const found = new Set<string>();
  for (const [i, file] of trimmed.entries()) {
    for (const other of trimmed.slice(0, i)) {
      if (file.path === '' || other.path === '') continue;
      if (`${other.path}/`.startsWith(`${file.path}/`) || `${file.path}/`.startsWith(`${other.path}/`))
        found.add(`${text(file)} with ${text(other)}`);
    }
  }
  return [...found];
}

it('finds the same overlaps as comparing all pairs, in the same order', () => {
  const path = fc.array(fc.constantFrom('a', 'b', ''), { maxLength: 4 }).map((segments) => segments.join('/'));
  const file = fc.record({ path, source: fc.constantFrom('', 'S', 'T') });
  fc.assert(
    fc.property(fc.array(file, { maxLength: 10 }), (given) => {
      expect(overlappingPaths(given)).toEqual(comparingAll(given).slice(0, 128));
    }),
  );
});

it.each<[string, (i: number) => string]>([
  ['with different names', (i) => `p${i}`],
  ['with the same name', () => 'p'],
  ['nested in each other', (i) => 'a/'.repeat(i % 500)],
  ['below a file that comes last', (i) => (i === 99_999 ? 'a' : `a/${i}`)],
])('checks 100,000 files %s in less than a second', (_, path) => {
  const given = Array.from({ length: 100_000 }, (_each, i) => ({ path: path(i), source: '' }));
  const began = threadMilliseconds();
  expect(overlappingPaths(given).length).toBeLessThanOrEqual(128);
  expect(threadMilliseconds() - began).toBeLessThan(1_000);
});

it('accepts more files of one source than a call has arguments', () => {
  const items = Array.from({ length: 200_000 }, (_, i) => ({ path: `p${i}` }));
  const volumes = [{ name: 'v', projected: { sources: [{ downwardAPI: { items } }] } }];
  expect(podWarnings({ metadata: { name: 'a' }, spec: { volumes } } as never)).toEqual([]);
});
