import { describe, expect, it } from 'vitest';
import { formatMicroTime } from '#apimachinery/runtime/time';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';
import {
  electedLease,
  isElectionNeeded,
  newLease,
  nextBallot,
  oldestEmulationVersion,
  pickBestLeader,
  pickBestStrategy,
} from './election.ts';

const now = Date.UTC(2026, 0, 2, 3, 4, 5);
const ago = (seconds: number): string => formatMicroTime(now - seconds * 1_000);

interface CandidateFields {
  readonly emulation?: string;
  readonly binary?: string;
  readonly created?: number;
  readonly renewed?: number;
  readonly pinged?: number;
  readonly strategy?: string;
}

const candidate = (name: string, fields: CandidateFields = {}): LeaseCandidate => {
  const { emulation = '1.36.0', binary = '1.36.0', created = 100, renewed = 0, pinged, strategy = oldestEmulationVersion } = fields;
  return {
    apiVersion: 'coordination.k8s.io/v1beta1',
    kind: 'LeaseCandidate',
    metadata: { name, creationTimestamp: ago(created) },
    spec: {
      leaseName: 'l',
      strategy,
      emulationVersion: emulation,
      binaryVersion: binary,
      renewTime: ago(renewed),
      ...(pinged !== undefined && { pingTime: ago(pinged) }),
    },
  };
};
const lease = (spec: Lease['spec'] = {}): Lease => ({
  apiVersion: 'coordination.k8s.io/v1',
  kind: 'Lease',
  metadata: { name: 'l' },
  spec: { holderIdentity: 'a', leaseDurationSeconds: 5, renewTime: ago(1), strategy: oldestEmulationVersion, ...spec },
});

it.each<{ name: string; candidates: LeaseCandidate[]; leader: string | undefined }>([
  { name: 'nobody', candidates: [], leader: undefined },
  { name: 'the only candidate', candidates: [candidate('a')], leader: 'a' },
  {
    name: 'the oldest emulation version',
    candidates: [candidate('a', { emulation: '1.36.0' }), candidate('b', { emulation: '1.9.0' })],
    leader: 'b',
  },
  { name: 'then the oldest binary', candidates: [candidate('a', { binary: '1.37.0' }), candidate('b', { binary: '1.36.1' })], leader: 'b' },
  {
    name: 'then the oldest candidate',
    candidates: [candidate('a', { created: 1 }), candidate('b', { created: 2 }), candidate('c', { created: 1 })],
    leader: 'b',
  },
  { name: 'none without a version', candidates: [candidate('a', { emulation: '' }), candidate('b', { emulation: '2.0.0' })], leader: 'b' },
])('best leader: $name', ({ candidates, leader }) => {
  expect(pickBestLeader(candidates)?.metadata.name).toBe(leader);
});

describe('best strategy', () => {
  it('is that of the newest binary', () => {
    expect(pickBestStrategy([candidate('a', { strategy: 'x.io/s' }), candidate('b', { binary: '1.37.0' })])).toBe(oldestEmulationVersion);
  });
  it('throws if the newest binaries differ', () => {
    expect(() => pickBestStrategy([candidate('a'), candidate('b', { strategy: 'x.io/s' })])).toThrow(
      'candidates "a", "b" at same binary version but received differing strategies OldestEmulationVersion, x.io/s',
    );
  });
});

it.each<{ name: string; lease: Lease | undefined; candidates?: LeaseCandidate[]; needed: boolean }>([
  { name: 'there is no lease', lease: undefined, needed: true },
  { name: 'it has expired', lease: lease({ renewTime: ago(6) }), needed: true },
  { name: 'it has no holder', lease: lease({ holderIdentity: '' }), needed: true },
  { name: 'the best candidate holds it', lease: lease(), needed: false },
  {
    name: 'another candidate is better',
    lease: lease(),
    candidates: [candidate('a'), candidate('b', { emulation: '1.35.0' })],
    needed: true,
  },
  {
    name: 'a candidate has not renewed for a quarter of an hour',
    lease: lease(),
    candidates: [candidate('a', { renewed: 901 })],
    needed: true,
  },
  { name: 'the strategy is a third-party one', lease: lease(), candidates: [candidate('b', { strategy: 'x.io/s' })], needed: false },
  { name: 'no candidate has a version', lease: lease(), candidates: [candidate('b', { emulation: 'x' })], needed: false },
])('election needed ($needed) if $name', ({ lease: present, candidates = [candidate('a')], needed }) => {
  expect(isElectionNeeded(present, candidates, now)).toBe(needed);
});

it.each<{ name: string; candidates: LeaseCandidate[]; asks?: string[]; electee?: string }>([
  {
    name: 'pings candidates without a recent renewal',
    candidates: [candidate('a', { renewed: 60 }), candidate('b', { renewed: 1 })],
    asks: ['a'],
  },
  { name: 'pings again after an old ping', candidates: [candidate('a', { renewed: 60, pinged: 61 })], asks: ['a'] },
  { name: 'waits for pinged candidates', candidates: [candidate('a', { renewed: 60, pinged: 2 }), candidate('b')], asks: [] },
  {
    name: 'continues without candidates that do not answer',
    candidates: [candidate('a', { renewed: 60, pinged: 6, emulation: '1.0.0' }), candidate('b')],
    electee: 'b',
  },
  {
    name: 'elects when all candidates have answered',
    candidates: [candidate('a', { pinged: 1 }), candidate('b', { emulation: '1.35.0' })],
    electee: 'b',
  },
])('election: $name', ({ candidates, asks, electee }) => {
  const ballot = nextBallot(candidates, now);
  expect('ask' in ballot ? ballot.ask.map(({ metadata }) => metadata.name) : ballot.electee).toEqual(asks ?? electee);
});

it('fails if no candidate answers', () => {
  expect(() => nextBallot([candidate('a', { renewed: 60, pinged: 6 })], now)).toThrow('no available candidates');
});

it('a third-party strategy creates a lease without a holder', () => {
  const ballot = nextBallot([candidate('a', { strategy: 'x.io/s' })], now);
  if ('ask' in ballot) throw new Error('expected a result, got pings');
  expect(newLease('n', 'l', ballot, now).spec).toEqual({ strategy: 'x.io/s', leaseDurationSeconds: 5, renewTime: ago(0) });
});

const taken = { strategy: oldestEmulationVersion, holderIdentity: 'b', leaseDurationSeconds: 5, renewTime: ago(0) };
it.each<{ name: string; before: Lease['spec']; after: Lease['spec'] | undefined }>([
  {
    name: 'without a holder goes to the electee',
    before: { holderIdentity: '', acquireTime: ago(9), preferredHolder: 'c' },
    after: taken,
  },
  { name: 'that has expired goes to the electee', before: { renewTime: ago(6) }, after: taken },
  { name: 'in use gets a preferred holder', before: {}, after: { ...lease().spec, preferredHolder: 'b' } },
  { name: 'with this preferred holder is unchanged', before: { preferredHolder: 'b' }, after: undefined },
  { name: 'held by the electee is unchanged', before: { holderIdentity: 'b' }, after: undefined },
  {
    name: 'without a strategy gets one',
    before: { holderIdentity: 'b', strategy: 'x.io/s' },
    after: { ...lease().spec, holderIdentity: 'b' },
  },
])('lease: $name', ({ before, after }) => {
  expect(electedLease(lease(before), { strategy: oldestEmulationVersion, electee: 'b' }, now)?.spec).toEqual(after);
});
