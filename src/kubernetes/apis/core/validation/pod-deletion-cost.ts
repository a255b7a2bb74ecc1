export const podDeletionCost = 'controller.kubernetes.io/pod-deletion-cost';

/** Returns the error of the annotation for the pod deletion cost, which must be a 32-bit integer. */
export function podDeletionCostError(annotations: Readonly<Record<string, string>> | undefined): string | undefined {
  const value = annotations?.[podDeletionCost];
  if (value === undefined) return undefined;
  const isNumber = /^(?:0|-\d+|[1-9]\d*)$/.test(value) && value.length < 12 && (Number(value) | 0) === Number(value);
  return isNumber ? undefined : 'must be a 32bit integer';
}
