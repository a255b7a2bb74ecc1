import { formatMicroTime, parseTime } from '#apimachinery/runtime/time';
import { compareVersions, parseVersion, zeroVersion } from '#kubernetes/apis/coordination/semantic-version';
import type { Lease } from '#kubernetes/schema/coordination_v1.gen';
import type { LeaseCandidate } from '#kubernetes/schema/coordination_v1beta1.gen';

/**
 * Time within which candidates must answer a ping, in milliseconds. Upstream:
 * pkg/controlplane/controller/leaderelection/leaderelection_controller.go.
 */
const electionMs = 5_000;
const candidateMs = 30 * 60_000;
const leaseSeconds = 5;

/** The built-in strategy. Leases with another one get their holder from a third-party controller. */
export const oldestEmulationVersion = 'OldestEmulationVersion';

/** The next step of an election: a result, or waiting for answers of candidates, including those to ping now. */
export type Ballot = Outcome | { readonly ask: readonly LeaseCandidate[] };

/** The result of an election. `electee` is the name of a candidate; undefined leaves the choice to another controller. */
export interface Outcome {
  readonly strategy: string;
  readonly electee: string | undefined;
}

/** True if the candidate has not renewed for half an hour. */
export function isCandidateExpired({ spec }: LeaseCandidate, now: number): boolean {
  return spec?.renewTime === undefined || parseTime(spec.renewTime) + candidateMs < now;
}

/** True if the candidate was pinged and has not answered. Times are MicroTimes as stored, which sort as texts. */
export function isPending({ spec }: LeaseCandidate): boolean {
  return spec?.pingTime !== undefined && spec.renewTime !== undefined && spec.renewTime < spec.pingTime;
}

function isLeaseExpired({ spec }: Lease, now: number): boolean {
  if (spec?.renewTime === undefined || spec.leaseDurationSeconds === undefined) return true;
  return parseTime(spec.renewTime) + spec.leaseDurationSeconds * 1_000 < now;
}

/**
 * True if the lease needs another holder, or if candidates have not renewed for a quarter of an hour. `candidates` are the unexpired ones
 * of the lease. Throws if they do not agree on a strategy.
 */
export function isElectionNeeded(lease: Lease | undefined, candidates: readonly LeaseCandidate[], now: number): boolean {
  if (!lease || isLeaseExpired(lease, now) || !lease.spec?.holderIdentity) return true;
  if (candidates.some(({ spec }) => spec?.renewTime !== undefined && parseTime(spec.renewTime) + candidateMs / 2 < now)) return true;
  if (pickBestStrategy(candidates) !== oldestEmulationVersion) return false;
  const electee = pickBestLeader(candidates);
  return electee !== undefined && electee.metadata.name !== lease.spec.holderIdentity;
}

/**
 * Computes one step of an election, in which every candidate has to prove that it is alive:
 *
 * | renewTime       | pingTime         |                                                      |
 * | --------------- | ---------------- | ---------------------------------------------------- |
 * | within 5 s      | any              | it is alive                                          |
 * | before pingTime | within 5 s       | the election waits for its answer                    |
 * | before pingTime | earlier          | it did not answer: the election continues without it |
 * | any other       | none, or earlier | it is pinged                                         |
 *
 * Throws if no candidate is alive, or if they do not agree on a strategy.
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
  if (electee === undefined) throw new Error('no candidate has a valid version');
  return { strategy, electee };
}

/** Returns the new lease of an election that had none. */
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
 * Returns the lease after an election; undefined if it does not change. A holder that renews is requested to step down (preferredHolder); a
 * holder with an expired lease is replaced.
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

/**
 * Returns the candidate with the oldest emulation version, among these with the oldest binary version, among these the oldest one.
 * Upstream: election.go.
 */
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

/** Returns the strategy of the candidates with the newest binary. Throws if these differ, and without candidates. Upstream: election.go. */
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
