/**
 * Checks the expressions of policies against the types of the objects. Upstream:
 * apiserver/pkg/admission/plugin/policy/validating/typechecking.go.
 */
import type { GroupVersionKind } from '#apimachinery/meta/types';
import type { Steps } from '#apimachinery/runtime/steps';
import { fieldPath } from '#apimachinery/validation/field';
import { namespaceDecl, requestDecl } from '#apiserver/admission/cel/environment';
import { PolicyCompiler } from '#apiserver/admission/cel/expression';
import { storedExpressionsEnvironment } from '#apiserver/cel/base-environment';
import { type CelType, dynType } from '#apiserver/cel/check/types';
import { assignTypeName, type DeclType } from '#apiserver/cel/decl-type';
import type { Environment } from '#apiserver/cel/environment';
import { authorizerType } from '#apiserver/cel/library/authz';
import { CelSchema, type JsonSchema, schemaDeclType } from '#apiserver/cel/schema';
import { Issues } from '#apiserver/cel/syntax/source';
import type { ValidatingPolicySpec } from './policy-types.ts';

/** Schemas by which the expressions of a policy are checked. */
export interface PolicyTypes {
  /** Kinds that the policy matches, in order of group, version and kind. */
  readonly kinds: readonly { readonly kind: GroupVersionKind; readonly schema: JsonSchema }[];
  /** Schema of the parameters; undefined if the policy has none or their kind is unknown. */
  readonly params: JsonSchema | undefined;
}

/** Warning about an expression. Upstream: admissionregistration/v1 ExpressionWarning. */
export interface ExpressionWarning {
  readonly fieldRef: string;
  readonly warning: string;
}

interface CheckedExpression {
  readonly fieldRef: string;
  readonly expression: string;
  /** Issues by kind. */
  readonly issues: string[];
}

/** Returns the expressions of a policy that are type-checked, without issues. */
function* expressionsOf({ validations = [] }: ValidatingPolicySpec): Iterable<CheckedExpression> {
  for (const [at, { expression, messageExpression }] of validations.entries()) {
    const path = fieldPath('spec', 'validations').index(at);
    yield { fieldRef: String(path.child('expression')), expression, issues: [] };
    if (messageExpression) yield { fieldRef: String(path.child('messageExpression')), expression: messageExpression, issues: [] };
  }
}

/** Returns a warning for each expression that is wrong for at least one of the kinds; yields between expressions. */
export function* typeWarnings(spec: ValidatingPolicySpec, { kinds, params }: PolicyTypes): Steps<ExpressionWarning[]> {
  const expressions = [...expressionsOf(spec)];
  const paramsDecl = params && declTypeOf(params, `${spec.paramKind?.kind}.params`);
  const options = { params: spec.paramKind !== undefined, authorizer: true };
  for (const { kind, schema } of kinds) {
    const environment = environmentOf(options.params, declTypeOf(schema, kind.kind), paramsDecl);
    const compiler = new PolicyCompiler('stored', true, () => environment);
    for (const { name, expression } of spec.variables ?? []) {
      compiler.addVariable(name, expression, options);
      yield;
    }
    for (const { expression, issues } of expressions) {
      const checked = compiler.check(expression, options);
      if (checked instanceof Issues) issues.push(`${kind.group}/${kind.version}, Kind=${kind.kind}: ${String(checked)}\n`);
      yield;
    }
  }
  return expressions.filter(({ issues }) => issues.length > 0).map(({ fieldRef, issues }) => ({ fieldRef, warning: issues.join('\n') }));
}

function declTypeOf(schema: JsonSchema, name: string): DeclType | undefined {
  const declared = schemaDeclType(new CelSchema(schema), true);
  return declared && assignTypeName(declared, name);
}

/** As upstream, there is no `authorizer.requestResource`, and a variable without a type is dyn. */
function environmentOf(hasParams: boolean, object: DeclType | undefined, params: DeclType | undefined): Environment {
  const objectType = typeOf(object);
  return storedExpressionsEnvironment.extend({
    variables: {
      namespaceObject: namespaceDecl.celType,
      request: requestDecl.celType,
      object: objectType,
      oldObject: objectType,
      ...(hasParams && { params: typeOf(params) }),
      authorizer: authorizerType,
    },
    declTypes: [namespaceDecl, requestDecl, ...[object, params].filter((declared) => declared !== undefined)],
  });
}

function typeOf(declared: DeclType | undefined): CelType {
  return declared?.celType ?? dynType;
}
