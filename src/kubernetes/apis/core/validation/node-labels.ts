/** Node labels that were renamed. Upstream: pkg/api/node/util.go. */
import type { LabelSelector } from '#apimachinery/meta/schema/meta_v1.gen';
import type { Path } from '#apimachinery/validation/field';
import { isValidLabelValue } from '#apimachinery/validation/names';
import type { NodeSelectorTerm } from '#kubernetes/schema/core_v1.gen';

const deprecated: ReadonlyMap<string, string> = new Map([
  ['beta.kubernetes.io/arch', 'deprecated since v1.14; use "kubernetes.io/arch" instead'],
  ['beta.kubernetes.io/os', 'deprecated since v1.14; use "kubernetes.io/os" instead'],
  ['failure-domain.beta.kubernetes.io/region', 'deprecated since v1.17; use "topology.kubernetes.io/region" instead'],
  ['failure-domain.beta.kubernetes.io/zone', 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead'],
  ['beta.kubernetes.io/instance-type', 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead'],
  ['app.kubernetes.io/created-by', 'deprecated since v1.9'],
  ['scheduler.alpha.kubernetes.io/preferAvoidPods', 'deprecated since v1.22; use Taints and Tolerations instead'],
  ['node-role.kubernetes.io/master', 'use "node-role.kubernetes.io/control-plane" instead'],
]);

/** Returns the deprecation message of a label; undefined if it is not deprecated. */
export function nodeLabelDeprecation(label: string): string | undefined {
  return deprecated.get(label);
}

export function warnNodeSelectorTerm(
  warnings: string[],
  { matchExpressions = [] }: NodeSelectorTerm,
  path: () => Path,
  checkValues = false,
): void {
  for (const [i, { key = '', values = [] }] of matchExpressions.entries()) {
    const text = nodeLabelDeprecation(key);
    if (text !== undefined) warnings.push(`${path().child('matchExpressions').index(i).child('key').toString()}: ${key} is ${text}`);
    if (!checkValues) continue;
    for (const [j, value] of values.entries()) {
      for (const message of isValidLabelValue(value))
        warnings.push(`${path().child('matchExpressions').index(i).child('values').index(j).toString()}: ${value} is invalid, ${message}`);
    }
  }
}

export function warnNodeSelectorTerms(warnings: string[], terms: readonly NodeSelectorTerm[] | undefined, path: () => Path): void {
  for (const [i, term] of (terms ?? []).entries()) warnNodeSelectorTerm(warnings, term, () => path().index(i));
}

/** Warnings about a selector for node labels. Upstream: GetWarningsForNodeSelector. */
export function nodeLabelSelectorWarnings({ matchExpressions = [], matchLabels = {} }: LabelSelector, path: Path): string[] {
  const warnings: string[] = [];
  warnNodeSelectorTerm(warnings, { matchExpressions }, () => path);
  for (const label of Object.keys(matchLabels)) {
    const text = nodeLabelDeprecation(label);
    if (text !== undefined) warnings.push(`${path.child('matchLabels', label).toString()}: ${text}`);
  }
  return warnings;
}
