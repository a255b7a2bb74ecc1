import type { TargetName } from './targets.ts';

/** A difference that was reviewed: `ours` is what the own implementation does. Classes are those of `Outcome`, with `connection` before that of a connection. */
export interface Reviewed {
  readonly mutation: RegExp;
  readonly peer: Exclude<TargetName, 'own'>;
  readonly ours: string;
  readonly theirs: string;
  /** Where it is allowed, with the sentence that allows it. */
  readonly rfc: string;
}

const streamErrors = 'RFC 9113, 5.4.1: "an endpoint MAY choose to treat a stream error as a connection error."';

export const reviewed: readonly Reviewed[] = [
  ...(['nghttp2', 'go'] as const).flatMap((peer): Reviewed[] => [
    { mutation: /./, peer, ours: 'connection open, a stream reset', theirs: 'connection error', rfc: streamErrors },
    { mutation: /./, peer, ours: 'connection error', theirs: 'connection open, a stream reset', rfc: streamErrors },
  ]),
];
