import { expect, it } from 'vitest';
import { mismatches } from './partial-match.ts';

const pod = {
  metadata: { name: 'web', labels: { 'app.kubernetes.io/name': 'web' } },
  spec: { containers: [{ name: 'a', image: 'nginx', args: ['x', 'y'] }], replicas: 1 },
};

it.each<{ name: string; expected: unknown; lines: string[] }>([
  { name: 'nothing', expected: {}, lines: [] },
  { name: 'some members', expected: { spec: { containers: [{ image: 'nginx' }] } }, lines: [] },
  { name: 'the absence of members', expected: { status: null, spec: { paused: undefined } }, lines: [] },
  { name: 'another value', expected: { spec: { replicas: 2 } }, lines: ['spec.replicas: expected 2, got 1'] },
  { name: 'another type', expected: { spec: { replicas: '1' } }, lines: ['spec.replicas: expected "1", got 1'] },
  { name: 'a missing member', expected: { spec: { paused: true } }, lines: ['spec.paused: expected true, got nothing'] },
  { name: 'the absence of a present member', expected: { spec: { replicas: null } }, lines: ['spec.replicas: expected nothing, got 1'] },
  {
    name: 'a shorter list',
    expected: { spec: { containers: [{ args: ['x'] }] } },
    lines: ['spec.containers[0].args: expected 1 items ["x"], got ["x","y"]'],
  },
  {
    name: 'another item',
    expected: { spec: { containers: [{ args: ['x', 'z'] }] } },
    lines: ['spec.containers[0].args[1]: expected "z", got "y"'],
  },
  {
    name: 'a key that is not an identifier',
    expected: { metadata: { labels: { 'app.kubernetes.io/name': 'db' } } },
    lines: ['metadata.labels["app.kubernetes.io/name"]: expected "db", got "web"'],
  },
  { name: 'an inherited member', expected: { toString: {} }, lines: ['toString: expected {}, got nothing'] },
  {
    name: 'an object in place of a list',
    expected: { spec: { containers: {} } },
    lines: [`spec.containers: expected {}, got ${JSON.stringify(pod.spec.containers)}`],
  },
])('compares $name', ({ expected, lines }) => {
  expect(mismatches(expected, pod)).toEqual(lines);
});
