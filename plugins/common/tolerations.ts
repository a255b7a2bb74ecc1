import type { Taint, Toleration } from 'kubenest/types/core_v1';

/** True if a toleration covers a taint. Upstream: api/core/v1/toleration.go (ToleratesTaint). */
export function tolerates({ key = '', operator = '', value = '', effect = '' }: Toleration, taint: Taint): boolean {
  if (effect !== '' && effect !== taint.effect) return false;
  if (key !== '' && key !== taint.key) return false;
  switch (operator) {
    case '':
    case 'Equal':
      return value === (taint.value ?? '');
    case 'Exists':
      return true;
    case 'Lt':
    case 'Gt':
      return compares(operator, value, taint.value ?? '');
    default:
      return false;
  }
}

/** Comparison of integers: `Gt` tolerates taints with a greater value. */
function compares(operator: 'Lt' | 'Gt', value: string, taintValue: string): boolean {
  const integer = /^(0|-?[1-9]\d*)$/;
  if (!integer.test(value) || !integer.test(taintValue)) return false;
  return operator === 'Gt' ? BigInt(taintValue) > BigInt(value) : BigInt(taintValue) < BigInt(value);
}

/** Returns the first taint of one of the effects that no toleration covers. */
export function untoleratedTaint(
  taints: readonly Taint[],
  tolerations: readonly Toleration[],
  effects: readonly string[],
): Taint | undefined {
  return taints.find((taint) => effects.includes(taint.effect ?? '') && !tolerations.some((one) => tolerates(one, taint)));
}
