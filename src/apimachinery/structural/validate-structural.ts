import { compareUtf8 } from '../runtime/json/json.ts';
import { compileRegexp, RegexpError } from '../runtime/regexp.ts';
import { atOnce, type Steps } from '../runtime/steps.ts';
import { addErrors, type FieldError, forbidden, invalid, type Path, required } from '../validation/field.ts';
import { additionalPropertiesSchema, itemsSchema, type JsonSchemaProps } from './json-schema-props.ts';
import type { Structural } from './structural.ts';

type Level = 'root' | 'item' | 'field';

const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/**
 * Validates that a schema is structural: each field is described once, by a type, outside of allOf, anyOf, oneOf and not, which only
 * restrict values. Errors are sorted by message. Upstream: apiextensions-apiserver/pkg/apiserver/schema/{validation,complete}.go.
 */
export function validateStructural(path: Path, schema: Structural): FieldError[] {
  return atOnce(validateStructuralSteps(path, schema));
}

/** Like `validateStructural`, but yields to the event loop. */
export function* validateStructuralSteps(path: Path, schema: Structural): Steps<FieldError[]> {
  const errors = yield* invariants(schema, 'root', path);
  addErrors(errors, yield* completeness(schema.props, schema, path, path));
  return errors.sort((a, b) => compareUtf8(String(a), String(b)));
}

/** Number of schemas in an `anyOf` and similar keywords between two yields. */
const stepSchemas = 64;

/** Yields the errors of each of the schemas. */
function* ofEach(
  schemas: readonly JsonSchemaProps[],
  path: Path,
  check: (schema: JsonSchemaProps, path: Path, index: number) => Steps<FieldError[]>,
): Steps<FieldError[]> {
  const errors: FieldError[] = [];
  for (const [i, schema] of schemas.entries()) {
    if (i % stepSchemas === stepSchemas - 1) yield;
    addErrors(errors, yield* check(schema, path.index(i), i));
  }
  return errors;
}

function* invariants(schema: Structural, level: Level, path: Path): Steps<FieldError[]> {
  yield;
  const { props, items, properties, additionalProperties, embeddedResource } = schema;
  const errors: FieldError[] = [];
  if (schema.type === 'array' && !items) errors.push(required(path.child('items'), 'must be specified'));
  if (items) addErrors(errors, yield* invariants(items, 'item', path.child('items')));
  for (const [name, property] of properties) addErrors(errors, yield* invariants(property, 'field', path.child('properties').key(name)));
  if (props.additionalProperties !== undefined) {
    const place = path.child('additionalProperties');
    if (level === 'root') errors.push(forbidden(place, 'must not be used at the root'));
    if (embeddedResource) errors.push(forbidden(place, 'must not be used if x-kubernetes-embedded-resource is set'));
    if (additionalProperties) addErrors(errors, yield* invariants(additionalProperties, 'field', place));
  }
  addErrors(errors, extensions(props, path));
  addErrors(errors, yield* valueValidation(props, isIntOrString(props.anyOf), isIntOrString(props.allOf?.[0]?.anyOf), level, path));
  addErrors(errors, ofType(schema, level, path));
  addErrors(errors, typeAndMeta(schema, level, path));
  if (embeddedResource && !schema.preserveUnknownFields && properties.size === 0) {
    const detail = 'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(path.child('properties'), detail));
  }
  return errors;
}

function extensions(props: JsonSchemaProps, path: Path): FieldError[] {
  if (!props['x-kubernetes-int-or-string']) return [];
  return (['x-kubernetes-preserve-unknown-fields', 'x-kubernetes-embedded-resource'] as const)
    .filter((extension) => props[extension])
    .map((extension) => invalid(path.child(extension), true, 'must be false if x-kubernetes-int-or-string is true'));
}

function ofType({ type, props, embeddedResource, preserveUnknownFields }: Structural, level: Level, path: Path): FieldError[] {
  const place = path.child('type');
  const errors: FieldError[] = [];
  if (embeddedResource && type !== 'object') {
    const detail = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(place, detail) : invalid(place, type, detail));
  } else if (type === '' && !props['x-kubernetes-int-or-string'] && !preserveUnknownFields) {
    errors.push(required(place, missingType[level]));
  }
  if (level === 'root' && type !== '' && type !== 'object') errors.push(invalid(place, type, 'must be object at the root'));
  return errors;
}

function typeAndMeta({ properties, embeddedResource }: Structural, level: Level, path: Path): FieldError[] {
  const isResource = level === 'root' || embeddedResource;
  const errors: FieldError[] = [];
  for (const name of ['kind', 'apiVersion']) {
    const property = properties.get(name);
    if (isResource && property && property.type !== 'string')
      errors.push(invalid(path.child('properties').key(name).child('type'), property.type, 'must be string'));
  }
  const metadata = properties.get('metadata');
  const place = path.child('properties').key('metadata');
  if (metadata && isResource && metadata.type !== 'object') errors.push(invalid(place.child('type'), metadata.type, 'must be object'));
  if (metadata && level === 'root' && !onlyNames(metadata.props))
    errors.push(forbidden(place, 'must not specify anything other than name and generateName, but metadata is implicitly specified'));
  return errors;
}

/** True if a schema of metadata only restricts the names. */
function onlyNames({ type: _, default: __, properties = {}, ...rest }: JsonSchemaProps): boolean {
  return Object.keys(rest).length === 0 && Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
}

/** True for upstream's form of int-or-string, the only one in which an anyOf may have types. */
function isIntOrString(anyOf: readonly JsonSchemaProps[] | undefined): boolean {
  return (
    anyOf?.length === 2 &&
    (['integer', 'string'] as const).every((type, at) => anyOf[at]?.type === type && Object.keys(anyOf[at]).length === 1)
  );
}

function* valueValidation(
  props: JsonSchemaProps,
  skipAnyOf: boolean,
  skipFirstAllOf: boolean,
  level: Level,
  path: Path,
): Steps<FieldError[]> {
  const { allOf = [], anyOf = [], oneOf = [], not, pattern } = props;
  const errors: FieldError[] = [];
  const inside = (one: JsonSchemaProps, at: Path): Steps<FieldError[]> => nested(one, false, level, at);
  if (!skipAnyOf) addErrors(errors, yield* ofEach(anyOf, path.child('anyOf'), inside));
  addErrors(errors, yield* ofEach(allOf, path.child('allOf'), (one, at, i) => nested(one, skipFirstAllOf && i === 0, level, at)));
  addErrors(errors, yield* ofEach(oneOf, path.child('oneOf'), inside));
  if (not) addErrors(errors, yield* inside(not, path.child('not')));
  if (pattern) {
    const reason = patternError(pattern);
    if (reason !== undefined)
      errors.push(invalid(path.child('pattern'), pattern, `must be a valid regular expression, but isn't: ${reason}`));
  }
  return errors;
}

function patternError(pattern: string): string | undefined {
  try {
    compileRegexp(pattern);
    return undefined;
  } catch (error) {
    if (error instanceof RegexpError) return error.message;
    throw error;
  }
}

const forbiddenInside: readonly (readonly [keyof JsonSchemaProps, string])[] = [
  ['default', 'must be undefined to be structural'],
  ['title', 'must be empty to be structural'],
  ['description', 'must be empty to be structural'],
  ['nullable', 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', 'must be false to be structural'],
  ['x-kubernetes-int-or-string', 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', 'must be empty to be structural'],
  ['x-kubernetes-list-type', 'must be undefined to be structural'],
  ['x-kubernetes-map-type', 'must be undefined to be structural'],
  ['x-kubernetes-validations', 'must be empty to be structural'],
];

/** Validates a schema in allOf and similar keywords: it may restrict values, but not describe fields. */
function* nested(props: JsonSchemaProps, skipAnyOf: boolean, level: Level, path: Path): Steps<FieldError[]> {
  const errors = yield* valueValidation(props, skipAnyOf, false, level, path);
  const items = itemsSchema(props);
  if (items) addErrors(errors, yield* nested(items, false, level, path.child('items')));
  for (const [name, property] of Object.entries(props.properties ?? {}))
    addErrors(errors, yield* nested(property, false, 'field', path.child('properties').key(name)));
  if (props.type) errors.push(forbidden(path.child('type'), 'must be empty to be structural'));
  if (additionalPropertiesSchema(props) || props.additionalProperties === true)
    errors.push(forbidden(path.child('additionalProperties'), 'must be undefined to be structural'));
  for (const [keyword, detail] of forbiddenInside) {
    const value = props[keyword];
    if (value !== undefined && value !== null) errors.push(forbidden(path.child(keyword), detail));
  }
  if (props.properties && Object.hasOwn(props.properties, 'metadata'))
    errors.push(forbidden(path.child('properties').key('metadata'), 'must not be specified in a nested context'));
  return errors;
}

/** Validates that fields in allOf and similar keywords are also described outside of them. */
function* completeness(props: JsonSchemaProps, schema: Structural, schemaPath: Path, path: Path): Steps<FieldError[]> {
  const { allOf = [], anyOf = [], oneOf = [], not } = props;
  const inside = (one: JsonSchemaProps, at: Path): Steps<FieldError[]> => nestedCompleteness(one, schema, schemaPath, at);
  const errors = not ? yield* inside(not, path.child('not')) : [];
  addErrors(errors, yield* ofEach(allOf, path.child('allOf'), inside));
  addErrors(errors, yield* ofEach(anyOf, path.child('anyOf'), inside));
  addErrors(errors, yield* ofEach(oneOf, path.child('oneOf'), inside));
  return errors;
}

function* nestedCompleteness(props: JsonSchemaProps, schema: Structural | undefined, schemaPath: Path, path: Path): Steps<FieldError[]> {
  if (!schema) return [required(schemaPath, `because it is defined in ${path.toString()}`)];
  const errors = yield* completeness(props, schema, schemaPath, path);
  const items = itemsSchema(props);
  if (items) addErrors(errors, yield* nestedCompleteness(items, schema.items, schemaPath.child('items'), path.child('items')));
  for (const [name, property] of Object.entries(props.properties ?? {})) {
    const place = schemaPath.child('properties').key(name);
    addErrors(errors, yield* nestedCompleteness(property, schema.properties.get(name), place, path.child('properties').key(name)));
  }
  return errors;
}
