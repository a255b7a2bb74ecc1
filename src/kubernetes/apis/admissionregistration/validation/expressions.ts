/** Validation of the expressions of policies and webhooks. Upstream: pkg/apis/admissionregistration/validation/validation.go. */
import {
  addErrors,
  duplicate,
  type FieldError,
  internalError,
  invalid,
  type Path,
  required,
  tooMany,
} from '#apimachinery/validation/field';
import { isQualifiedName } from '#apimachinery/validation/names';
import { admissionEnvironment, type ExpressionAge } from '#apiserver/admission/cel/environment';
import { type CompiledExpression, compileExpression, conditionTypes } from '#apiserver/admission/cel/expression';
import type { MatchCondition } from '#kubernetes/schema/admissionregistration_v1.gen';

const maxMatchConditions = 64;

/** Expressions of the stored object. They may use features that new expressions may not. */
export type KnownExpressions = ReadonlySet<string | undefined>;
export const noneKnown: KnownExpressions = new Set();

export function ageOf(expression: string, known: KnownExpressions): ExpressionAge {
  return known.has(expression) ? 'stored' : 'new';
}

/** Returns the errors of a compiled expression. `shown` is the expression as the object has it. */
export function compileErrors(path: Path, { error, isInternal, expression }: CompiledExpression, shown = expression): FieldError[] {
  if (error === undefined) return [];
  return [isInternal ? internalError(path, new Error(error)) : invalid(path, shown, error)];
}

export function validateMatchConditions(
  conditions: readonly MatchCondition[],
  { params, known }: { readonly params: boolean; readonly known: KnownExpressions },
  path: Path,
): FieldError[] {
  const errors = conditions.length > maxMatchConditions ? [tooMany(path, conditions.length, maxMatchConditions)] : [];
  const seen = new Set<string>();
  for (const [i, { name = '', expression = '' }] of conditions.entries()) {
    const at = path.index(i);
    const text = expression.trim();
    if (text === '') {
      errors.push(required(at.child('expression')));
    } else {
      const environment = admissionEnvironment({ params, authorizer: true }, ageOf(text, known));
      addErrors(
        errors,
        compileErrors(
          at.child('expression'),
          compileExpression(() => environment, text, conditionTypes),
        ),
      );
    }
    addErrors(errors, name === '' ? [required(at.child('name'))] : validateQualifiedName(name, at.child('name')));
    if (name !== '' && seen.has(name)) errors.push(duplicate(at.child('name'), name));
    seen.add(name);
  }
  return errors;
}

export function validateQualifiedName(name: string, path: Path): FieldError[] {
  return isQualifiedName(name).map((message) => invalid(path, name, message));
}
