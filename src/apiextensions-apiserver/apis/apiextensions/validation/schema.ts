import { RegexpError } from '#apimachinery/runtime/regexp';
import type { Steps } from '#apimachinery/runtime/steps';
import { type JsonSchemaProps, schemaHas } from '#apimachinery/structural/json-schema-props';
import { validateDefaults } from '#apimachinery/structural/schema-defaults';
import { SchemaValidator } from '#apimachinery/structural/schema-validator';
import { newStructural, type Structural, StructuralError } from '#apimachinery/structural/structural';
import { validateStructuralSteps } from '#apimachinery/structural/validate-structural';
import { addErrors, type FieldError, forbidden, invalid, type Path } from '#apimachinery/validation/field';
import { CelRuleContext } from '#apiextensions-apiserver/cel/rule-context';
import { RuleValidator } from '#apiextensions-apiserver/cel/rule-validator';
import { internalSchemaText } from '../internal-form.ts';
import { OpenApiSchemaValidation } from './open-api-schema.ts';
import type { Requirements } from './requirements.ts';

/** Fields that the root schema may have if there is a status subresource, with their Go names, in Go's order. */
const allowedAtRoot: readonly (readonly [goName: string, keyword: keyof JsonSchemaProps])[] = [
  ['Description', 'description'],
  ['Type', 'type'],
  ['Format', 'format'],
  ['Title', 'title'],
  ['Maximum', 'maximum'],
  ['ExclusiveMaximum', 'exclusiveMaximum'],
  ['Minimum', 'minimum'],
  ['ExclusiveMinimum', 'exclusiveMinimum'],
  ['MaxLength', 'maxLength'],
  ['MinLength', 'minLength'],
  ['Pattern', 'pattern'],
  ['MaxItems', 'maxItems'],
  ['MinItems', 'minItems'],
  ['UniqueItems', 'uniqueItems'],
  ['MultipleOf', 'multipleOf'],
  ['Required', 'required'],
  ['Items', 'items'],
  ['Properties', 'properties'],
  ['ExternalDocs', 'externalDocs'],
  ['Example', 'example'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields'],
  ['XValidations', 'x-kubernetes-validations'],
];

/**
 * Validates a schema. `path` is that of the validation, which has the schema in `openAPIV3Schema`; `version` is its version, or the first
 * of several. Upstream: validateCustomResourceDefinitionValidation.
 */
export function* validateSchema(
  path: Path,
  schema: JsonSchemaProps | undefined,
  hasStatus: boolean,
  needsStructural: boolean,
  requirements: Requirements,
  version: string,
): Steps<FieldError[]> {
  if (!schema) return [];
  const place = path.child('openAPIV3Schema');
  const errors: FieldError[] = hasStatus ? validateRootOfStatus(place, schema) : [];
  if (schema.nullable) errors.push(forbidden(path.child('openAPIV3Schema.nullable'), 'nullable cannot be true at the root'));
  const structural = needsStructural ? yield* checkStructural(place, schema, requirements) : { errors: [], unconvertible: [] };
  addErrors(errors, structural.errors);
  const isCompilable = needsStructural && structural.errors.length === 0 && structural.unconvertible.length === 0;
  const { knownExpressions: known, unchangedSchemas } = requirements;
  const rules = isCompilable ? CelRuleContext.root(schema, { known, isUnchanged: unchangedSchemas.has(version) }) : undefined;
  addErrors(errors, yield* new OpenApiSchemaValidation(requirements).validate(place, schema, rules));
  if (errors.length === 0) addErrors(errors, structural.unconvertible);
  addErrors(errors, rules?.totalErrors(place) ?? []);
  yield;
  return errors.length > 0 ? errors : checkValidator(path, schema);
}

/** The first field that is wrong, in Go's order: `id`, `$schema` and `$ref` come before `type`. */
function validateRootOfStatus(place: Path, schema: JsonSchemaProps): FieldError[] {
  const errors: FieldError[] = [];
  const suffix = 'if the status subresource is enabled';
  const isWrongBeforeType = schema.id !== undefined || schema.$schema !== undefined || schema.$ref !== undefined;
  if (!isWrongBeforeType && schema.type !== undefined && schema.type !== 'object')
    return [invalid(place.child('type'), schema.type, `only "object" is allowed as the type at the root of the schema ${suffix}`)];
  const allowed = new Set<string>(allowedAtRoot.map(([, keyword]) => keyword));
  const stray = Object.keys(schema).find((keyword) => !allowed.has(keyword));
  if (stray !== undefined) {
    const names = allowedAtRoot.map(([goName]) => goName).join(' ');
    errors.push(invalid(place, internalSchemaText(schema), `only [${names}] fields are allowed at the root of the schema ${suffix}`));
  }
  return errors;
}

/** Validates a default by the rules, as a new value and as an unchanged one. */
function validateDefaultByRules(path: Path, schema: Structural, isRoot: boolean, value: unknown): FieldError[] {
  const validator = RuleValidator.for(schema, isRoot);
  if (!validator) return [];
  const errors = validator.validate(path, value, value, false, () => {});
  return errors.length > 0 ? errors : validator.validate(path, value, undefined, false, () => {});
}

/** Validates that the schema is structural. `unconvertible` is the conversion error, reported only if there is no other. */
function* checkStructural(
  place: Path,
  schema: JsonSchemaProps,
  { prunedDefaults }: Requirements,
): Steps<{ errors: FieldError[]; unconvertible: FieldError[] }> {
  try {
    const structural = newStructural(schema);
    yield;
    const errors = yield* validateStructuralSteps(place, structural);
    if (errors.length > 0) return { errors, unconvertible: [] };
    return {
      errors: validateDefaults(place, structural, { requirePruned: prunedDefaults, rules: validateDefaultByRules }),
      unconvertible: [],
    };
  } catch (error) {
    if (error instanceof StructuralError) return { errors: [], unconvertible: [invalid(place, '', error.message)] };
    throw error;
  }
}

function checkValidator(path: Path, schema: JsonSchemaProps): FieldError[] {
  if (!schemaHas(schema, ({ pattern }) => pattern !== undefined)) return [];
  try {
    new SchemaValidator(schema);
    return [];
  } catch (error) {
    if (!(error instanceof RegexpError)) throw error;
    return [invalid(path, '', `error building validator: ${error.message}`)];
  }
}
