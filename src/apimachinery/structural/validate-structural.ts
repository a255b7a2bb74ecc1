import { addErrors } from '#apimachinery/validation/field';
import { compareUtf8 } from '../runtime/json.ts';
import { compileRegexp, RegexpError } from '../runtime/regexp.ts';
import { type FieldError, forbidden, invalid, type Path, required } from '../validation/field.ts';
import { additionalPropertiesSchema, itemsSchema, type JsonSchemaProps } from './json-schema-props.ts';
import type { Structural } from './structural.ts';

type Level = 'root' | 'item' | 'field';

const missingType: Readonly<Record<Level, string>> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

/**
 * Whether a schema is structural: each field is described once, by a type, outside of allOf, anyOf, oneOf and not; these only
 * restrict values. Sorted by message. Upstream: apiextensions-apiserver/pkg/apiserver/schema/{validation,complete}.go.
 */
export function validateStructural(path: Path, schema: Structural): FieldError[] {
  const errors = [...invariants(schema, 'root', path), ...completeness(schema.props, schema, path, path)];
  return errors.sort((a, b) => compareUtf8(String(a), String(b)));
}

function invariants(schema: Structural, level: Level, path: Path): FieldError[] {
  const { props, items, properties, additionalProperties, embeddedResource } = schema;
  const errors: FieldError[] = [];
  if (schema.type === 'array' && !items) errors.push(required(path.child('items'), 'must be specified'));
  if (items) addErrors(errors, invariants(items, 'item', path.child('items')));
  for (const [name, property] of properties) addErrors(errors, invariants(property, 'field', path.child('properties').key(name)));
  if (props.additionalProperties !== undefined) {
    const place = path.child('additionalProperties');
    if (level === 'root') errors.push(forbidden(place, 'must not be used at the root'));
    if (embeddedResource) errors.push(forbidden(place, 'must not be used if x-kubernetes-embedded-resource is set'));
    if (additionalProperties) addErrors(errors, invariants(additionalProperties, 'field', place));
  }
  addErrors(errors, extensions(props, path));
  addErrors(errors, valueValidation(props, isIntOrString(props.anyOf), isIntOrString(props.allOf?.[0]?.anyOf), level, path));
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

/** Of metadata, a schema may restrict the names only. */
function onlyNames({ type: _, default: __, properties = {}, ...rest }: JsonSchemaProps): boolean {
  return Object.keys(rest).length === 0 && Object.keys(properties).every((name) => name === 'name' || name === 'generateName');
}

/** What upstream writes for int-or-string: the one place where types may be named in an anyOf. */
function isIntOrString(anyOf: readonly JsonSchemaProps[] | undefined): boolean {
  return (
    anyOf?.length === 2 &&
    (['integer', 'string'] as const).every((type, at) => anyOf[at]?.type === type && Object.keys(anyOf[at]).length === 1)
  );
}

function valueValidation(props: JsonSchemaProps, skipAnyOf: boolean, skipFirstAllOf: boolean, level: Level, path: Path): FieldError[] {
  const { allOf = [], anyOf = [], oneOf = [], not, pattern } = props;
  const errors: FieldError[] = [];
  if (!skipAnyOf) for (const [i, one] of anyOf.entries()) addErrors(errors, nested(one, false, level, path.child('anyOf').index(i)));
  for (const [i, one] of allOf.entries()) addErrors(errors, nested(one, skipFirstAllOf && i === 0, level, path.child('allOf').index(i)));
  for (const [i, one] of oneOf.entries()) addErrors(errors, nested(one, false, level, path.child('oneOf').index(i)));
  if (not) addErrors(errors, nested(not, false, level, path.child('not')));
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

/** A schema inside of allOf and the like: it may restrict values, not describe fields. */
function nested(props: JsonSchemaProps, skipAnyOf: boolean, level: Level, path: Path): FieldError[] {
  const errors = valueValidation(props, skipAnyOf, false, level, path);
  const items = itemsSchema(props);
  if (items) addErrors(errors, nested(items, false, level, path.child('items')));
  for (const [name, property] of Object.entries(props.properties ?? {}))
    addErrors(errors, nested(property, false, 'field', path.child('properties').key(name)));
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

/** What allOf and the like speak of must be described outside of them, too. */
function completeness(props: JsonSchemaProps, schema: Structural, schemaPath: Path, path: Path): FieldError[] {
  const { allOf = [], anyOf = [], oneOf = [], not } = props;
  const inside = (one: JsonSchemaProps, at: Path): FieldError[] => nestedCompleteness(one, schema, schemaPath, at);
  return [
    ...(not ? inside(not, path.child('not')) : []),
    ...allOf.flatMap((one, i) => inside(one, path.child('allOf').index(i))),
    ...anyOf.flatMap((one, i) => inside(one, path.child('anyOf').index(i))),
    ...oneOf.flatMap((one, i) => inside(one, path.child('oneOf').index(i))),
  ];
}

function nestedCompleteness(props: JsonSchemaProps, schema: Structural | undefined, schemaPath: Path, path: Path): FieldError[] {
  if (!schema) return [required(schemaPath, `because it is defined in ${path.toString()}`)];
  const errors = completeness(props, schema, schemaPath, path);
  const items = itemsSchema(props);
  if (items) addErrors(errors, nestedCompleteness(items, schema.items, schemaPath.child('items'), path.child('items')));
  for (const [name, property] of Object.entries(props.properties ?? {})) {
    const place = schemaPath.child('properties').key(name);
    addErrors(errors, nestedCompleteness(property, schema.properties.get(name), place, path.child('properties').key(name)));
  }
  return errors;
}
