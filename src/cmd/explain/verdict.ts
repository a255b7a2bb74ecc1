import type { TraceDocument, TraceStep } from '#apiserver/request/request-trace';

/**
 * The verdict on a request.
 *
 * | verdict     | the request                                                              |
 * | ----------- | ------------------------------------------------------------------------ |
 * | `admitted`  | succeeds; a connection passes admission                                  |
 * | `denied`    | is denied by an admission plugin, a policy or a webhook                  |
 * | `failed`    | fails in an admission plugin or a webhook                                |
 * | `forbidden` | is not authorized                                                        |
 * | `invalid`   | is rejected for another reason: validation, a conflict, a missing object |
 */
export type Verdict = (typeof verdicts)[number];

export const verdicts = ['admitted', 'denied', 'failed', 'forbidden', 'invalid'] as const;

/** Returns the verdict that a trace shows. `isConnection`: what follows admission needs a kubelet, and does not count. */
export function verdictOf({ status, steps }: TraceDocument, isConnection: boolean): Verdict {
  const refusal = refusingStep(steps);
  if (refusal) return refusal.verdict === 'denied' ? 'denied' : 'failed';
  if (status < 400) return 'admitted';
  if (!steps.some(({ stage, verdict }) => stage === 'authorization' && verdict === 'Allow')) return 'forbidden';
  return isConnection && steps.some(isAdmission) ? 'admitted' : 'invalid';
}

/** Returns the step of admission that ended the request; undefined if there is none. */
export function refusingStep(steps: readonly TraceStep[]): TraceStep | undefined {
  return steps.findLast((step) => isAdmission(step) && (step.verdict === 'denied' || step.verdict === 'failed'));
}

function isAdmission({ stage }: TraceStep): boolean {
  return stage === 'admit' || stage === 'validate';
}
