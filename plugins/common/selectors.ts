import { type LabelSelector, labelSelectorAsSelector, type LabelSelectorSource } from 'kubenest/sdk';
import type { ReplicaSetSpec } from 'kubenest/types/apps_v1';
import type { Service } from 'kubenest/types/core_v1';

const compiled = new WeakMap<object, LabelSelector>();

/**
 * Converts the selector of a stored, thus valid, object. An absent one matches nothing. Stored objects are immutable, and each event of a
 * pod is compared with the selectors of its namespace, which may be large: each is converted once.
 */
export function selectorOf(source: ReplicaSetSpec['selector']): LabelSelector {
  if (!source) return labelSelectorAsSelector(undefined);
  let selector = compiled.get(source);
  if (!selector) compiled.set(source, (selector = labelSelectorAsSelector(source as LabelSelectorSource)));
  return selector;
}

const entries = new WeakMap<object, readonly (readonly [string, string])[]>();

/** Returns the entries of a stored, thus immutable, selector, which is compared with many pods. */
function entriesOf(selector: Readonly<Record<string, string>>): readonly (readonly [string, string])[] {
  let known = entries.get(selector);
  if (!known) entries.set(selector, (known = Object.entries(selector)));
  return known;
}

/** True if the service selects the labels. A service without a selector selects nothing. */
export function selects({ spec }: Service, labels: Readonly<Record<string, string>> | undefined): boolean {
  const selector = spec?.selector;
  return selector !== undefined && entriesOf(selector).every(([key, value]) => labels?.[key] === value);
}
