import { newApplyConflict, type StatusError } from '#apimachinery/api/errors';
import type { FieldSet } from './field-set.ts';
import { compareText, type Manager, managerIdentifier, printManager } from './managers.ts';
import { formatPath } from './path-element.ts';

/** Fields of another manager that an apply changes. */
export interface Conflict {
  readonly owner: Manager;
  readonly fields: FieldSet;
}

export class ConflictError extends Error {
  override readonly name = 'ConflictError';
  constructor(readonly conflicts: readonly Conflict[]) {
    super('apply conflicts');
  }
}

/** Returns the error of an apply with conflicts; managedfields/internal/conflict.go. */
export function newConflictError(conflicts: readonly Conflict[]): StatusError {
  const byManager = conflicts
    .map(({ owner, fields }) => ({ id: managerIdentifier(owner), manager: printManager(owner), paths: [...fields].map(formatPath) }))
    .sort((a, b) => compareText(a.id, b.id));
  const causes = byManager.flatMap(({ manager, paths }) =>
    paths.map((field) => ({ reason: 'FieldManagerConflict', message: `conflict with ${manager}`, field })),
  );
  const [only] = causes;
  if (only && causes.length === 1) return newApplyConflict(causes, `Apply failed with 1 conflict: ${only.message}: ${only.field}`);
  const lines = byManager.flatMap(({ manager, paths }) => [`conflicts with ${manager}:`, ...paths.map((path) => `- ${path}`)]);
  return newApplyConflict(causes, `Apply failed with ${causes.length} conflicts: ${lines.join('\n')}`);
}
