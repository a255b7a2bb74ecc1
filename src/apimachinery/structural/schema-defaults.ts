import { addErrors } from '#apimachinery/validation/field';
import { getOwn, isJsonObject, type JsonObject, setOwn } from '../patch/own-property.ts';
import { DecodeError } from '../runtime/json/json.ts';
import { deepCopy } from '../runtime/copy.ts';
import { deepEqual } from '../runtime/equality.ts';
import { atOnce } from '../runtime/steps.ts';
import { aggregate, type FieldError, invalid, type Path } from '../validation/field.ts';
import { coerceEmbeddedResources, coerceObjectMeta, EmbeddedResourceError, validateEmbeddedResources } from './object-meta.ts';
import { prune } from './prune.ts';
import { SchemaValidator } from './schema-validator.ts';
import type { Structural } from './structural.ts';

/** The path from the root of a resource to a nested value: property names, and `item` for a list item. */
type Steps = readonly ({ readonly property: string } | 'item')[];

/** Wraps a value in objects that have only the path to it. */
function surround(value: unknown, steps: Steps): unknown {
  return steps.reduceRight<unknown>((inner, step) => {
    if (step === 'item') return [inner];
    const object: JsonObject = {};
    setOwn(object, step.property, inner);
    return object;
  }, value);
}

/** Returns the value at the end of a path; undefined if it was removed. */
function extract(root: unknown, steps: Steps): unknown {
  return steps.reduce<unknown>((outer, step) => {
    if (step === 'item') return Array.isArray(outer) ? outer[0] : undefined;
    return isJsonObject(outer) ? getOwn(outer, step.property) : undefined;
  }, root);
}

/**
 * Prunes all defaults of a schema by the schema itself, in place; returns true if anything changed. Defaults of new schemas are already
 * pruned; those of old definitions may not be. Upstream: schema/defaulting/prune.go.
 */
export function pruneDefaults(root: Structural): boolean {
  return root.hasDefaults && pruneDefaultsIn(root, root, []);
}

function pruneDefaultsIn(schema: Structural, root: Structural, steps: Steps): boolean {
  if (!schema.hasDefaults) return false;
  let changed = false;
  if (schema.default !== undefined) {
    const object = surround(deepCopy(schema.default), steps);
    coerceEmbeddedResources(object, root.asResourceRoot(), { dropInvalid: true });
    atOnce(prune(object, root, true));
    const pruned = extract(object, steps);
    changed = !deepEqual(pruned, schema.default);
    schema.default = pruned;
  }
  for (const [step, part] of partsOf(schema, { property: '*' })) changed = pruneDefaultsIn(part, root, [...steps, step]) || changed;
  return changed;
}

function* partsOf(schema: Structural, additional: Steps[number]): Iterable<[Steps[number], Structural]> {
  if (schema.additionalProperties) yield [additional, schema.additionalProperties];
  if (schema.items) yield ['item', schema.items];
  for (const [property, part] of schema.properties) yield [{ property }, part];
}

/** Validates a default by CEL rules; `isRoot` is true for the schema of a whole resource. */
export type ValidateRules = (path: Path, schema: Structural, isRoot: boolean, value: unknown) => FieldError[];

interface DefaultsValidation {
  readonly requirePruned: boolean;
  readonly rules: ValidateRules | undefined;
}

/** Validates that each default conforms to the schema. Upstream: schema/defaulting/validation.go. */
export function validateDefaults(path: Path, schema: Structural, validation: DefaultsValidation): FieldError[] {
  if (!schema.hasDefaults) return [];
  const root = schema.asResourceRoot();
  return validateDefaultsIn(path, root, root, [], false, validation);
}

function validateDefaultsIn(
  path: Path,
  schema: Structural,
  root: Structural,
  steps: Steps,
  insideMeta: boolean,
  validation: DefaultsValidation,
): FieldError[] {
  if (!schema.hasDefaults) return [];
  if (schema.embeddedResource && schema !== root) return validateDefaultsIn(path, schema, schema, [], false, validation);
  const errors: FieldError[] = [];
  if (schema.default !== undefined) {
    const place = path.child('default');
    addErrors(
      errors,
      insideMeta ? validateMetaDefault(place, schema, root, steps, validation) : validateDefault(place, schema, root, validation),
    );
  }
  if (schema.items)
    addErrors(errors, validateDefaultsIn(path.child('items'), schema.items, root, [...steps, 'item'], insideMeta, validation));
  for (const [property, part] of schema.properties) {
    const inMeta = insideMeta || (schema.embeddedResource && (property === 'metadata' || property === 'apiVersion' || property === 'kind'));
    addErrors(errors, validateDefaultsIn(path.child('properties').key(property), part, root, [...steps, { property }], inMeta, validation));
  }
  return errors;
}

function validateDefault(place: Path, schema: Structural, root: Structural, { requirePruned, rules }: DefaultsValidation): FieldError[] {
  const errors: FieldError[] = [];
  const value = deepCopy(schema.default);
  if (requirePruned) {
    const pruned = deepCopy(value);
    atOnce(prune(pruned, schema, schema.embeddedResource));
    if (!deepEqual(pruned, value)) errors.push(invalid(place, schema.default, 'must not have unknown fields'));
  }
  try {
    coerceEmbeddedResources(value, schema, { dropInvalid: false }, place);
  } catch (error) {
    if (error instanceof EmbeddedResourceError) return [...errors, error.fieldError];
    throw error;
  }
  return [...errors, ...validateValue(place, schema, schema === root, value, validateEmbeddedResources(value, schema, place), rules)];
}

/** Validates a default within metadata, such as one of a label, as part of the metadata. */
function validateMetaDefault(place: Path, schema: Structural, root: Structural, steps: Steps, { rules }: DefaultsValidation): FieldError[] {
  const object = surround(deepCopy(schema.default), steps) as JsonObject;
  object['kind'] ??= 'Validation';
  object['apiVersion'] ??= 'validation/v1';
  const wrong = (detail: string): FieldError[] => [invalid(place, schema.default, `must result in valid metadata: ${detail}`)];
  try {
    coerceEmbeddedResources(object, root, { dropInvalid: false });
    if (object['metadata'] !== undefined) coerceObjectMeta(object['metadata'], 'metadata', { dropInvalid: false });
  } catch (error) {
    if (error instanceof EmbeddedResourceError || error instanceof DecodeError) return wrong(error.message);
    throw error;
  }
  const errors = validateEmbeddedResources(object, root);
  if (errors.length > 0) return wrong(aggregate(errors));
  return validateValue(place, schema, schema === root, schema.default, [], rules);
}

function validateValue(
  place: Path,
  schema: Structural,
  isRoot: boolean,
  value: unknown,
  embedded: FieldError[],
  rules: ValidateRules | undefined,
): FieldError[] {
  if (embedded.length > 0) return embedded;
  const errors = new SchemaValidator(schema.props, { onlySupportedFormats: false }).validate(place, value);
  return errors.length > 0 || !rules ? errors : rules(place, schema, isRoot, value);
}
