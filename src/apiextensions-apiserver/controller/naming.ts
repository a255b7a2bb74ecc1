import { deepEqual } from '#apimachinery/runtime/equality';
import { quote } from '#apimachinery/runtime/quote';
import { aggregateMessages } from '#apimachinery/validation/field';
import type { CustomResourceDefinition, CustomResourceDefinitionNames } from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import type { Condition } from '../apis/apiextensions/conditions.ts';

/** Outcome of the naming of a definition. */
export interface Naming {
  readonly acceptedNames: CustomResourceDefinitionNames;
  readonly condition: Condition;
}

/** Accepted names of the definitions of a group. */
interface UsedNames {
  readonly resources: ReadonlySet<string>;
  readonly kinds: ReadonlySet<string>;
}

function usedNames(definitions: Iterable<CustomResourceDefinition>): UsedNames {
  const resources = new Set<string>();
  const kinds = new Set<string>();
  for (const { status } of definitions) {
    const { plural = '', singular = '', shortNames = [], kind = '', listKind = '' } = status?.acceptedNames ?? {};
    for (const name of [plural, singular, ...shortNames]) resources.add(name);
    for (const name of [kind, listKind]) kinds.add(name);
  }
  return { resources, kinds };
}

/** True if the names of a definition are the accepted ones. */
export function namesAreAccepted({ spec, status }: CustomResourceDefinition): boolean {
  return deepEqual(spec?.names ?? {}, status?.acceptedNames ?? {});
}

/**
 * Accepts the names of a definition that no other definition of its group has; for a conflicting name the old one is kept. `group` has all
 * definitions of the group, including this one. Upstream: controller/status/naming_controller.go (calculateNamesAndConditions).
 */
export function acceptNames({ spec, status }: CustomResourceDefinition, group: Iterable<CustomResourceDefinition>): Naming {
  const used = usedNames(group);
  const requested = spec?.names ?? {};
  const accepted: CustomResourceDefinitionNames = { ...status?.acceptedNames };
  const present = status?.acceptedNames ?? {};
  let conflict: { reason: string; message: string } | undefined;
  const accept = (field: 'plural' | 'singular' | 'kind' | 'listKind', names: ReadonlySet<string>, reason: string): void => {
    const name = requested[field] ?? '';
    if (name !== (present[field] ?? '') && names.has(name)) conflict = { reason, message: `${quote(name)} is already in use` };
    else accepted[field] = name;
  };
  accept('plural', used.resources, 'PluralConflict');
  accept('singular', used.resources, 'SingularConflict');
  const taken = (requested.shortNames ?? []).filter((name) => !present.shortNames?.includes(name) && used.resources.has(name));
  if (taken.length > 0)
    conflict = { reason: 'ShortNamesConflict', message: aggregateMessages(taken.map((name) => `${quote(name)} is already in use`)) };
  else assign(accepted, 'shortNames', requested.shortNames);
  accept('kind', used.kinds, 'KindConflict');
  accept('listKind', used.kinds, 'ListKindConflict');
  assign(accepted, 'categories', requested.categories);
  const condition: Condition = conflict
    ? { type: 'NamesAccepted', status: 'False', ...conflict }
    : { type: 'NamesAccepted', status: 'True', reason: 'NoConflicts', message: 'no conflicts found' };
  return { acceptedNames: accepted, condition };
}

function assign(names: CustomResourceDefinitionNames, field: 'shortNames' | 'categories', value: string[] | undefined): void {
  if (value) names[field] = value;
  else delete names[field];
}
