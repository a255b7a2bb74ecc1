import {
  additionalPropertiesSchema,
  forbidsAdditionalProperties,
  itemsSchema,
  itemsSchemas,
  type JsonSchemaProps,
  type ValidationRule,
} from '#apimachinery/structural/json-schema-props';
import type { Steps } from '#apimachinery/runtime/steps';
import { newStructural, StructuralError } from '#apimachinery/structural/structural';
import { FieldPathError, validFieldPath } from '#apimachinery/structural/valid-field-path';
import { isEmptyObject, isJsonObject } from '#apimachinery/patch/own-property';
import {
  addErrors,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  notSupportedText,
  type Path,
  required,
} from '#apimachinery/validation/field';
import { internalSchemaText } from '../internal-form.ts';

export const openApiTypes = ['array', 'boolean', 'integer', 'number', 'object', 'string'];
const reasons = ['FieldValueDuplicate', 'FieldValueForbidden', 'FieldValueInvalid', 'FieldValueRequired'];

/** Rules for new schemas. An update may violate those that the old definition already violates. */
export interface SchemaRequirements {
  readonly validPropertyType: boolean;
  readonly atomicSetType: boolean;
  readonly mapListKeys: boolean;
}

/** Properties of a schema that depend on its position in the root schema. */
export interface SchemaPlace {
  /** The reason why defaults are forbidden here; undefined if they are allowed. */
  readonly defaultsForbidden: string | undefined;
  readonly insideResourceMeta: boolean;
  /**
   * The outermost part of the schema whose values cannot be correlated with old ones, so that rules cannot use oldSelf; undefined if there
   * is none.
   */
  readonly uncorrelatable: Path | undefined;
}

/** Validates the CEL rules of one schema, and creates the contexts of its nested schemas. */
export interface RuleContext {
  /** Validates the rules of the schema of this context. */
  validate(path: Path, schema: JsonSchemaProps, place: SchemaPlace): FieldError[];
  property(schema: JsonSchemaProps, name: string): RuleContext | undefined;
  additionalProperties(schema: JsonSchemaProps): RuleContext | undefined;
  items(schema: JsonSchemaProps): RuleContext | undefined;
}

export const rootPlace: SchemaPlace = { defaultsForbidden: undefined, insideResourceMeta: false, uncorrelatable: undefined };
const metaFields = new Set(['metadata', 'kind', 'apiVersion']);

/**
 * Validates the keywords of a schema and its nested schemas. Errors of rules come last, and rules are compiled only if their own schema has
 * no other error. Upstream: apiextensions/validation/validation.go (ValidateCustomResourceDefinitionOpenAPISchema).
 */
export class OpenApiSchemaValidation {
  readonly #schemaErrors: FieldError[] = [];
  readonly #ruleErrors: FieldError[] = [];

  constructor(readonly requirements: SchemaRequirements) {}

  *validate(path: Path, schema: JsonSchemaProps, rules: RuleContext | undefined, place = rootPlace): Steps<FieldError[]> {
    yield* this.#visit(path, schema, place, rules, true);
    return [...this.#schemaErrors, ...this.#ruleErrors];
  }

  *#visit(path: Path, schema: JsonSchemaProps, place: SchemaPlace, rules: RuleContext | undefined, isRoot: boolean): Steps<void> {
    // As upstream, rules are compiled after the checks of the schema and its nested schemas.
    const before = this.#schemaErrors.length;
    yield;
    addErrors(this.#schemaErrors, keywords(path, schema, place, this.requirements));
    yield* this.#visitParts(path, schema, place, rules, isRoot);
    addErrors(this.#schemaErrors, extensions(path, schema, this.requirements));
    const { 'x-kubernetes-validations': validations = [] } = schema;
    for (const [i, rule] of validations.entries())
      addErrors(this.#schemaErrors, validateRule(path.child('x-kubernetes-validations').index(i), schema, rule));
    if (validations.length > 0 && rules && this.#schemaErrors.length === before)
      addErrors(this.#ruleErrors, rules.validate(path, schema, place));
  }

  *#visitParts(path: Path, schema: JsonSchemaProps, place: SchemaPlace, rules: RuleContext | undefined, isRoot: boolean): Steps<void> {
    yield* this.#visitAdditionalProperties(path, schema, place, rules);
    yield* this.#visitProperties(path, schema, place, rules, isRoot);
    const { not, allOf = [], oneOf = [], anyOf = [], definitions = {}, dependencies = {} } = schema;
    if (not) yield* this.#visit(path.child('not'), not, place, undefined, false);
    for (const [name, list] of Object.entries({ allOf, oneOf, anyOf }))
      for (const [i, one] of list.entries()) yield* this.#visit(path.child(name).index(i), one, place, undefined, false);
    for (const [name, one] of Object.entries(definitions))
      yield* this.#visit(path.child('definitions').key(name), one, place, undefined, false);
    yield* this.#visitItems(path, schema, place, rules);
    for (const [name, one] of Object.entries(dependencies))
      if (isJsonObject(one)) yield* this.#visit(path.child('dependencies').key(name), one, place, undefined, false);
  }

  *#visitAdditionalProperties(path: Path, schema: JsonSchemaProps, place: SchemaPlace, rules: RuleContext | undefined): Steps<void> {
    const additional = additionalPropertiesSchema(schema);
    if (schema.properties && Object.keys(schema.properties).length > 0 && (additional || forbidsAdditionalProperties(schema)))
      this.#schemaErrors.push(forbidden(path.child('additionalProperties'), 'additionalProperties and properties are mutual exclusive'));
    if (!additional) return;
    const inside = place.insideResourceMeta
      ? { ...place, defaultsForbidden: 'inside additionalProperties applying to object metadata' }
      : place;
    yield* this.#visit(path.child('additionalProperties'), additional, inside, rules?.additionalProperties(additional), false);
  }

  *#visitProperties(path: Path, schema: JsonSchemaProps, place: SchemaPlace, rules: RuleContext | undefined, isRoot: boolean): Steps<void> {
    const isMeta = isRoot || schema['x-kubernetes-embedded-resource'] === true;
    const correlatable = ['atomic', 'granular', undefined].includes(schema['x-kubernetes-map-type']);
    for (const [name, property] of Object.entries(schema.properties ?? {})) {
      let inside = correlatable ? place : { ...place, uncorrelatable: place.uncorrelatable ?? path };
      if (isMeta && metaFields.has(name)) {
        inside = { ...inside, insideResourceMeta: true };
        if (isRoot) inside = { ...inside, defaultsForbidden: `in top-level ${name}` };
      }
      yield* this.#visit(path.child('properties').key(name), property, inside, rules?.property(property, name), false);
    }
  }

  *#visitItems(path: Path, schema: JsonSchemaProps, place: SchemaPlace, rules: RuleContext | undefined): Steps<void> {
    const inside = schema['x-kubernetes-list-type'] === 'map' ? place : { ...place, uncorrelatable: place.uncorrelatable ?? path };
    const items = itemsSchema(schema);
    if (items) yield* this.#visit(path.child('items'), items, inside, rules?.items(items), false);
    for (const [i, one] of itemsSchemas(schema).entries())
      yield* this.#visit(path.child('items').index(i), one, inside, rules?.items(one), false);
  }
}

const unsupported = ['additionalItems', 'patternProperties', 'definitions', 'dependencies', '$ref'] as const;

/** True if upstream finds a keyword in use: an empty `dependencies` counts, the other maps only with a key. */
function isSet(value: unknown, keyword: (typeof unsupported)[number]): boolean {
  if (value === undefined) return false;
  return (keyword !== 'patternProperties' && keyword !== 'definitions') || !isEmptyObject(value as object);
}

function keywords(path: Path, schema: JsonSchemaProps, place: SchemaPlace, { validPropertyType }: SchemaRequirements): FieldError[] {
  const { type = '' } = schema;
  const errors: FieldError[] = [];
  if (validPropertyType && type !== '' && !openApiTypes.includes(type))
    errors.push(notSupportedText(path.child('type'), type, openApiTypes));
  if (schema.default !== undefined && schema.default !== null && place.defaultsForbidden !== undefined)
    errors.push(forbidden(path.child('default'), `must not be set ${place.defaultsForbidden}`));
  if (schema.id) errors.push(forbidden(path.child('id'), 'id is not supported'));
  for (const keyword of unsupported)
    if (isSet(schema[keyword], keyword)) errors.push(forbidden(path.child(keyword), `${keyword} is not supported`));
  if (type === 'null') errors.push(forbidden(path.child('type'), 'type cannot be set to null, use nullable as an alternative'));
  if (itemsSchemas(schema).length > 0) errors.push(forbidden(path.child('items'), 'items must be a schema object and not an array'));
  if (place.insideResourceMeta && schema['x-kubernetes-embedded-resource'])
    errors.push(forbidden(path.child('x-kubernetes-embedded-resource'), 'must not be used inside of resource meta'));
  if (schema.uniqueItems)
    errors.push(forbidden(path.child('uniqueItems'), 'uniqueItems cannot be set to true since the runtime complexity becomes quadratic'));
  return errors;
}

function extensions(path: Path, schema: JsonSchemaProps, requirements: SchemaRequirements): FieldError[] {
  const errors: FieldError[] = [];
  const preserve = schema['x-kubernetes-preserve-unknown-fields'];
  if (preserve === false) errors.push(invalid(path.child('x-kubernetes-preserve-unknown-fields'), preserve, 'must be true or undefined'));
  errors.push(...mapType(path, schema), ...listType(path, schema, requirements), ...listMapKeys(path, schema));
  if (requirements.mapListKeys) addErrors(errors, validateMapListKeys(path, schema));
  return errors;
}

function typeMustBe(path: Path, type: string | undefined, expected: string, extension: string): FieldError[] {
  if (type === expected) return [];
  const detail = `must be ${expected} if ${extension} is specified`;
  return [type ? invalid(path.child('type'), type, detail) : required(path.child('type'), detail)];
}

function mapType(path: Path, schema: JsonSchemaProps): FieldError[] {
  const value = schema['x-kubernetes-map-type'];
  if (value === undefined) return [];
  const errors = typeMustBe(path, schema.type, 'object', 'x-kubernetes-map-type');
  if (value !== 'atomic' && value !== 'granular')
    errors.push(notSupportedText(path.child('x-kubernetes-map-type'), value, ['atomic', 'granular']));
  return errors;
}

function listType(path: Path, schema: JsonSchemaProps, { atomicSetType }: SchemaRequirements): FieldError[] {
  const value = schema['x-kubernetes-list-type'];
  if (value === undefined) return [];
  const errors = typeMustBe(path, schema.type, 'array', 'x-kubernetes-list-type');
  if (errors.length === 0 && atomicSetType) addErrors(errors, setItems(path, schema));
  if (!['atomic', 'set', 'map'].includes(value))
    errors.push(notSupportedText(path.child('x-kubernetes-list-type'), value, ['atomic', 'set', 'map']));
  return errors;
}

/** Validates that the items of a set are atomic. */
export function setItems(path: Path, schema: JsonSchemaProps): FieldError[] {
  const items = itemsSchema(schema);
  if (schema['x-kubernetes-list-type'] !== 'set' || !items) return [];
  const own = items['x-kubernetes-list-type'];
  const detail = 'must be atomic as item of a list with x-kubernetes-list-type=set';
  if (items.type === 'array' && own !== undefined && own !== 'atomic')
    return [invalid(path.child('items', 'x-kubernetes-list-type'), own, detail)];
  if (items.type === 'object' && items['x-kubernetes-map-type'] !== 'atomic')
    return [invalid(path.child('items', 'x-kubernetes-map-type'), own ?? null, detail)];
  return [];
}

function listMapKeys(path: Path, schema: JsonSchemaProps): FieldError[] {
  const type = schema['x-kubernetes-list-type'];
  const keys = schema['x-kubernetes-list-map-keys'] ?? [];
  const place = path.child('x-kubernetes-list-map-keys');
  const errors: FieldError[] = [];
  if (keys.length > 0 && type !== 'map') {
    const detail = 'must be map if x-kubernetes-list-map-keys is non-empty';
    const typePlace = path.child('x-kubernetes-list-type');
    errors.push(type === undefined ? required(typePlace, detail) : invalid(typePlace, type, detail));
  }
  if (type !== 'map') return errors;
  if (keys.length === 0) errors.push(required(place, 'must not be empty if x-kubernetes-list-type is map'));
  const items = itemsSchema(schema);
  if (schema.items === undefined) errors.push(required(path.child('items'), 'must have a schema if x-kubernetes-list-type is map'));
  else if (!items) {
    const shown = { JSONSchemas: itemsSchemas(schema).map(internalSchemaText), Schema: null };
    errors.push(invalid(path.child('items'), shown, 'must only have a single schema if x-kubernetes-list-type is map'));
  } else if (items.type !== 'object') {
    const detail = "must be object if parent array's x-kubernetes-list-type is map";
    errors.push(invalid(path.child('items', 'type'), items.type ?? '', detail));
  } else addErrors(errors, keysOfItems(path, place, keys, items));
  return errors;
}

function keysOfItems(path: Path, place: Path, keys: readonly string[], items: JsonSchemaProps): FieldError[] {
  const errors: FieldError[] = [];
  const { properties = {} } = items;
  const seen = new Set<string>();
  for (const key of keys) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property) errors.push(invalid(place, keys, 'entries must all be names of item properties'));
    else if (property.type === 'array' || property.type === 'object') {
      const detail = "must be a scalar type if parent array's x-kubernetes-list-type is map";
      errors.push(invalid(path.child('items', 'properties').key(key).child('type'), items.type, detail));
    }
    if (seen.has(key)) errors.push(invalid(place, keys, 'must not contain duplicate entries'));
    seen.add(key);
  }
  return errors;
}

/**
 * Validates that items of sets and map lists, and the keys of map lists, are required or have a default. Upstream:
 * validateMapListKeysMapSet.
 */
export function validateMapListKeys(path: Path, schema: JsonSchemaProps): FieldError[] {
  const items = itemsSchema(schema);
  const type = schema['x-kubernetes-list-type'];
  if (!items || (type !== 'set' && type !== 'map')) return [];
  const errors: FieldError[] = [];
  if (items.nullable) errors.push(forbidden(path.child('items', 'nullable'), `cannot be nullable when x-kubernetes-list-type is ${type}`));
  if (type === 'set') return errors;
  const { properties = {}, required: requiredKeys = [] } = items;
  for (const key of schema['x-kubernetes-list-map-keys'] ?? []) {
    const property = Object.hasOwn(properties, key) ? properties[key] : undefined;
    if (!property) continue;
    const place = path.child('items', 'properties').key(key);
    if (!requiredKeys.includes(key) && (property.default === undefined || property.default === null)) {
      const detail = 'this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property';
      errors.push(required(place.child('default'), detail));
    }
    if (property.nullable)
      errors.push(forbidden(place.child('nullable'), 'this property is in x-kubernetes-list-map-keys, so it cannot be nullable'));
  }
  return errors;
}

const hasNewlines = (text: string): boolean => /[\n\r]/.test(text);

/** Validates the parts of a rule that do not need compilation. */
function validateRule(path: Path, schema: JsonSchemaProps, validation: ValidationRule): FieldError[] {
  const { rule = '', message = '', messageExpression = '', reason, fieldPath = '' } = validation;
  const errors: FieldError[] = [];
  if (rule.trim() === '') errors.push(required(path.child('rule'), 'rule is not specified'));
  else if (message !== '' && message.trim() === '') errors.push(invalid(path.child('message'), message, 'must be non-empty if specified'));
  else if (hasNewlines(message.trim())) errors.push(invalid(path.child('message'), message, 'must not contain line breaks'));
  else if (hasNewlines(rule.trim()) && message.trim() === '')
    errors.push(required(path.child('message'), 'message must be specified if rule contains line breaks'));
  if (messageExpression !== '' && messageExpression.trim() === '')
    errors.push(required(path.child('messageExpression'), 'messageExpression must be non-empty if specified'));
  if (reason !== undefined && !reasons.includes(reason)) errors.push(notSupported(path.child('reason'), reason, reasons));
  if (fieldPath !== '') {
    const place = path.child('fieldPath');
    if (fieldPath.trim() === '') errors.push(invalid(place, fieldPath, 'must be non-empty if specified'));
    if (hasNewlines(fieldPath)) errors.push(invalid(place, fieldPath, 'must not contain line breaks'));
    if (!isValidPath(schema, fieldPath)) errors.push(invalid(place, fieldPath, 'must be a valid path'));
  }
  return errors;
}

function isValidPath(schema: JsonSchemaProps, fieldPath: string): boolean {
  try {
    validFieldPath(fieldPath, newStructural(schema));
    return true;
  } catch (error) {
    if (error instanceof StructuralError) return true;
    if (error instanceof FieldPathError) return false;
    throw error;
  }
}
