/** Validation of namespaces. Upstream: pkg/apis/core/validation. */
import { addErrors, type FieldError, type Path, fieldPath, invalid, named } from '#apimachinery/validation/field';
import { isQualifiedName, nameIsDNSLabel } from '#apimachinery/validation/names';
import type { Namespace } from '#kubernetes/schema/core_v1.gen';
import { check } from './checks.ts';
import { validateMetaAgain } from './object-meta.ts';

const finalizersPath = fieldPath('spec', 'finalizers');
const standard = ['kubernetes', 'orphan', 'foregroundDeletion'];

function validateFinalizer(errors: FieldError[], finalizer: string, path: Path): void {
  check(errors, isQualifiedName(finalizer), finalizer, path);
  if (!finalizer.includes('/') && !standard.includes(finalizer)) {
    errors.push(invalid(path, finalizer, 'name is neither a standard finalizer name nor is it fully qualified'));
  }
}

export function validateNamespace({ spec }: Namespace): FieldError[] {
  const errors: FieldError[] = [];
  for (const finalizer of spec?.finalizers ?? []) validateFinalizer(errors, finalizer, finalizersPath);
  return errors;
}

export function validateNamespaceUpdate(namespace: Namespace): FieldError[] {
  const errors: FieldError[] = [];
  validateMetaAgain(errors, namespace.metadata, nameIsDNSLabel, false);
  addErrors(errors, validateNamespace(namespace));
  return errors;
}

export function validateNamespaceStatusUpdate({ metadata, status }: Namespace): FieldError[] {
  const phase = status?.phase ?? '';
  const [expected, when] = metadata.deletionTimestamp ? ['Terminating', 'is not empty'] : ['Active', 'is empty'];
  return phase === expected
    ? []
    : [invalid(fieldPath('status', 'Phase'), named(phase), `may only be '${expected}' if \`deletionTimestamp\` ${when}`)];
}

export function validateNamespaceFinalizeUpdate({ spec }: Namespace): FieldError[] {
  const errors: FieldError[] = [];
  for (const [i, finalizer] of (spec?.finalizers ?? []).entries()) validateFinalizer(errors, finalizer, finalizersPath.index(i));
  return errors;
}
