import { formatMicroTime, parseTime } from '#apimachinery/runtime/time';
import { compareVersions, parseVersion, zeroVersion } from '#kubernetes/apis/coordination/semantic-version';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';

/** Upstream: pkg/controlplane/controller/leaderelection/leaderelection_controller.go. */
const electionMs = 5_000;
const candidateMs = 30 * 60_000;
const leaseSeconds = 5;

/** The strategy by which leaders are elected here; of others, the holder is some other controller's choice. */
export const oldestEmulationVersion = 'OldestEmulationVersion';

/** What is to be done in an election: answers are awaited, of those among others who are to be asked now, or it is decided. */
export type Ballot = Outcome | { readonly ask: readonly LeaseCandidate[] };

/** `electee`: the name of a candidate; undefined leaves the choice to others. */
export interface Outcome {
  readonly strategy: string;
  readonly electee: string | undefined;
}

/** A candidate that was not heard of for half an hour is none. */
export function isCandidateExpired({ spec }: LeaseCandidate, now: number): boolean {
  return spec?.renewTime === undefined || parseTime(spec.renewTime) + candidateMs < now;
}

/** Whether it was asked and has not answered. Times are MicroTimes as they are stored, whose order is that of their texts. */
export function isPending({ spec }: LeaseCandidate): boolean {
  return spec?.pingTime !== undefined && spec.renewTime !== undefined && spec.renewTime < spec.pingTime;
}

function isLeaseExpired({ spec }: Lease, now: number): boolean {
  if (spec?.renewTime === undefined || spec.leaseDurationSeconds === undefined) return true;
  return parseTime(spec.renewTime) + spec.leaseDurationSeconds * 1_000 < now;
}

/**
 * Whether the lease needs another holder, or candidates were not heard of for a quarter of an hour. `candidates`: those of the lease that
 * have not expired. Throws where they do not agree on a strategy.
 */
export function isElectionNeeded(lease: Lease | undefined, candidates: readonly LeaseCandidate[], now: number): boolean {
  if (!lease || isLeaseExpired(lease, now) || !lease.spec?.holderIdentity) return true;
  if (candidates.some(({ spec }) => spec?.renewTime !== undefined && parseTime(spec.renewTime) + candidateMs / 2 < now)) return true;
  if (pickBestStrategy(candidates) !== oldestEmulationVersion) return false;
  const electee = pickBestLeader(candidates);
  return electee !== undefined && electee.metadata.name !== lease.spec.holderIdentity;
}

/**
 * One step of an election. Every candidate has to show that it is there:
 *
 * | renewTime        | pingTime         |                                                         |
 * |------------------|------------------|---------------------------------------------------------|
 * | within 5 s       | any              | it is there                                             |
 * | before pingTime  | within 5 s       | its answer is awaited                                   |
 * | before pingTime  | earlier          | it did not answer: the election goes on without it      |
 * | any other        | none, or earlier | it is asked                                             |
 *
 * Throws where nobody is there, or they do not agree on a strategy.
 */
export function nextBallot(candidates: readonly LeaseCandidate[], now: number): Ballot {
  const isRecent = (time: string | undefined): boolean => time !== undefined && parseTime(time) + electionMs > now;
  const isThere = ({ spec }: LeaseCandidate): boolean => isRecent(spec?.renewTime);
  const isAwaited = (candidate: LeaseCandidate): boolean => isPending(candidate) && isRecent(candidate.spec?.pingTime);
  const mayBeAsked = (candidate: LeaseCandidate): boolean =>
    candidate.spec?.pingTime === undefined || (!isPending(candidate) && !isRecent(candidate.spec.pingTime));
  const ask = candidates.filter((candidate) => !isThere(candidate) && mayBeAsked(candidate));
  if (ask.length > 0 || candidates.some(isAwaited)) return { ask };
  const there = candidates.filter(isThere);
  if (there.length === 0) throw new Error('no available candidates');
  const strategy = pickBestStrategy(there);
  if (strategy !== oldestEmulationVersion) return { strategy, electee: undefined };
  const electee = pickBestLeader(there)?.metadata.name;
  if (electee === undefined) throw new Error('no candidate says a valid version');
  return { strategy, electee };
}

/** The lease of an election where there was none. */
export function newLease(namespace: string, name: string, { strategy, electee }: Outcome, now: number): Lease {
  return {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { namespace, name },
    spec: {
      strategy,
      leaseDurationSeconds: leaseSeconds,
      renewTime: formatMicroTime(now),
      ...(electee !== undefined && { holderIdentity: electee }),
    },
  };
}

/**
 * The lease after an election; undefined where it stays as it is. A holder that renews is asked to leave (preferredHolder); who has
 * let the lease expire is replaced.
 */
export function electedLease(lease: Lease, { strategy, electee }: Outcome, now: number): Lease | undefined {
  const { preferredHolder, acquireTime: _, ...spec } = lease.spec ?? {};
  const { holderIdentity: holder = '' } = spec;
  const kept = { ...lease.spec, strategy };
  if (electee !== undefined && (holder === '' || (isLeaseExpired(lease, now) && holder !== electee)))
    return {
      ...lease,
      spec: { ...spec, strategy, holderIdentity: electee, renewTime: formatMicroTime(now), leaseDurationSeconds: leaseSeconds },
    };
  if (electee !== undefined && holder !== electee && preferredHolder !== electee)
    return { ...lease, spec: { ...kept, preferredHolder: electee } };
  return spec.strategy === strategy ? undefined : { ...lease, spec: kept };
}

const emulationVersionOf = ({ spec }: LeaseCandidate) => parseVersion(spec?.emulationVersion ?? '');
const binaryVersionOf = ({ spec }: LeaseCandidate) => parseVersion(spec?.binaryVersion ?? '');

/** The candidate of the oldest emulated version, of these that of the oldest binary, of these the oldest. Upstream: election.go. */
export function pickBestLeader(candidates: readonly LeaseCandidate[]): LeaseCandidate | undefined {
  return candidates
    .filter((one) => emulationVersionOf(one) && binaryVersionOf(one))
    .reduce<LeaseCandidate | undefined>((best, one) => (best && compare(best, one) <= 0 ? best : one), undefined);
}

function compare(a: LeaseCandidate, b: LeaseCandidate): number {
  const emulated = compareVersions(emulationVersionOf(a) ?? zeroVersion, emulationVersionOf(b) ?? zeroVersion);
  if (emulated !== 0) return emulated;
  const binary = compareVersions(binaryVersionOf(a) ?? zeroVersion, binaryVersionOf(b) ?? zeroVersion);
  if (binary !== 0) return binary;
  return (a.metadata.creationTimestamp ?? '') > (b.metadata.creationTimestamp ?? '') ? 1 : -1;
}

/** The strategy of the candidates of the newest binary. Throws where these differ, and without candidates. Upstream: election.go. */
export function pickBestStrategy(candidates: readonly LeaseCandidate[]): string {
  let best: LeaseCandidate | undefined;
  for (const one of candidates) {
    const order = best ? compareVersions(binaryVersionOf(best) ?? zeroVersion, binaryVersionOf(one) ?? zeroVersion) : -1;
    if (order < 0) best = one;
    else if (order === 0 && best && one.spec?.strategy !== best.spec?.strategy)
      throw new Error(
        `candidates ${JSON.stringify(best.metadata.name)}, ${JSON.stringify(one.metadata.name)} at same binary version but received differing strategies ${best.spec?.strategy}, ${one.spec?.strategy}`,
      );
  }
  if (!best) throw new Error('no candidates');
  return best.spec?.strategy ?? '';
}
