/** Validation of file paths in objects. Upstream: validateLocalDescendingPath and related functions in pkg/apis/core/validation. */
import { type FieldError, type Path, invalid } from '#apimachinery/validation/field';

function hasBackstep(path: string): boolean {
  return path.includes('..') && path.split('/').includes('..');
}

export function validatePathNoBacksteps(errors: FieldError[], target: string, path: Path, field?: string): void {
  if (hasBackstep(target)) errors.push(invalid(field === undefined ? path : path.child(field), target, "must not contain '..'"));
}

/** Requires a relative path without `..`. */
export function validateLocalDescendingPath(errors: FieldError[], target: string, path: Path, field?: string): void {
  if (target.startsWith('/')) errors.push(invalid(field === undefined ? path : path.child(field), target, 'must be a relative path'));
  validatePathNoBacksteps(errors, target, path, field);
}

/** Like `validateLocalDescendingPath`, and rejects names that the kubelet reserves. */
export function validateLocalNonReservedPath(errors: FieldError[], target: string, path: Path, field: string): void {
  validateLocalDescendingPath(errors, target, path, field);
  if (target.startsWith('..') && !target.startsWith('../')) errors.push(invalid(path.child(field), target, "must not start with '..'"));
}

const maxMode = 0o777;

/** Validates file permissions. */
export function validateMode(errors: FieldError[], mode: number | undefined, path: Path, field: string): void {
  if (mode !== undefined && (mode > maxMode || mode < 0))
    errors.push(invalid(path.child(field), mode, 'must be a number between 0 and 0777 (octal), both inclusive'));
}
