import { storedExpressionsEnvironment } from '#apiserver/cel/base-environment';
import { type CelType, anyType, boolType, describeType, isExactType, listType, mapType, stringType } from '#apiserver/cel/check/types';
import { collectObjects, type DeclType, listDecl, mapDecl, objectOf, stringDecl } from '#apiserver/cel/decl-type';
import { activationOf, type Environment, PlanError } from '#apiserver/cel/environment';
import { fromJson } from '#apiserver/cel/json-values';
import { CelError, CelList, type Value } from '#apiserver/cel/runtime/values';
import { Issues } from '#apiserver/cel/syntax/source';
import { type FieldError, invalid, type Path } from '#apimachinery/validation/field';

/** An expression over one variable, given as JSON. Throws if it cannot be evaluated. */
export type JsonExpression = (variable: unknown) => unknown;

/** Permitted result types of expressions. */
export const resultTypes = {
  boolean: [boolType],
  string: [stringType],
  strings: [stringType, listType(stringType), anyType],
} as const satisfies Readonly<Record<string, readonly CelType[]>>;

const strings = listDecl(stringDecl);
const selector = (name: string): DeclType =>
  objectOf(name, {
    rawSelector: stringDecl,
    requirements: listDecl(objectOf('kubernetes.SelectorRequirement', { key: stringDecl, operator: stringDecl, values: strings })),
  });
const userFields = { uid: stringDecl, groups: strings, extra: mapDecl(stringDecl, strings) };
const userInfo = objectOf('kubernetes.UserInfo', { username: stringDecl, ...userFields });
const accessReview = objectOf('kubernetes.SubjectAccessReviewSpec', {
  resourceAttributes: objectOf('kubernetes.ResourceAttributes', {
    namespace: stringDecl,
    verb: stringDecl,
    group: stringDecl,
    version: stringDecl,
    resource: stringDecl,
    subresource: stringDecl,
    name: stringDecl,
    fieldSelector: selector('kubernetes.FieldSelectorAttributes'),
    labelSelector: selector('kubernetes.LabelSelectorAttributes'),
  }),
  nonResourceAttributes: objectOf('kubernetes.NonResourceAttributes', { path: stringDecl, verb: stringDecl }),
  user: stringDecl,
  ...userFields,
});

const object = (name: string, type: DeclType): Environment =>
  storedExpressionsEnvironment.extend({ variables: { [name]: type.celType }, declTypes: [...collectObjects(type).values()] });

/** Environments by their variable. Upstream: apiserver/pkg/authentication/cel/compile.go, authorization/cel/compile.go. */
const environments: Readonly<Record<'claims' | 'user' | 'request', () => Environment>> = {
  claims: once(() => storedExpressionsEnvironment.extend({ variables: { claims: mapType(stringType, anyType) } })),
  user: once(() => object('user', userInfo)),
  request: once(() => object('request', accessReview)),
};

/** Compiles an expression of a configuration file; returns undefined and adds an error if it is invalid. */
export function compileExpression(
  variable: keyof typeof environments,
  text: string,
  types: readonly CelType[],
  path: Path,
  errors: FieldError[],
): JsonExpression | undefined {
  const problem = (detail: string): undefined => {
    errors.push(invalid(path, text, detail));
    return undefined;
  };
  const expression = environments[variable]().compile(text);
  if (expression instanceof Issues) return problem(`compilation failed: ${String(expression)}`);
  if (!types.some((type) => isExactType(type, expression.outputType) || (type === anyType && expression.outputType.kind === 'dyn')))
    return problem(mismatch(variable, types, expression.outputType));
  try {
    const program = expression.program();
    return (json) => plain(program.evaluate(activationOf({ [variable]: fromJson(json) })).value);
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return problem(`program instantiation failed: ${error.message}`);
  }
}

/** Upstream names the actual type only for conditions of authorizers: authentication/cel/compile.go, authorization/cel/compile.go. */
function mismatch(variable: keyof typeof environments, types: readonly CelType[], actual: CelType): string {
  if (types.length > 1) return `must evaluate to one of [${types.join(' ')}]`;
  return `must evaluate to ${String(types[0])}${variable === 'request' ? ` but got ${describeType(actual)}` : ''}`;
}

/** Converts strings, booleans and lists of them. Other values are returned unchanged; callers do not mistake them for one of these. */
function plain(value: Value): unknown {
  if (value instanceof CelError) throw new Error(value.message);
  if (!(value instanceof CelList)) return value;
  return Array.from({ length: value.size }, (_, i) => plain(value.get(i)));
}

function once<T>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
