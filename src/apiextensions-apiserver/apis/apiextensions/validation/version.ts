import { encodeJson } from '#apimachinery/runtime/json/json';
import { isPrint } from '#apimachinery/runtime/quote';
import type { Steps } from '#apimachinery/runtime/steps';
import type { JsonSchemaProps } from '#apimachinery/structural/json-schema-props';
import { newStructural, StructuralError } from '#apimachinery/structural/structural';
import { FieldPathError, validFieldPath } from '#apimachinery/structural/valid-field-path';
import { addErrors, duplicate, type FieldError, invalid, JsonText, type Path, required, tooMany } from '#apimachinery/validation/field';
import type {
  CustomResourceColumnDefinition,
  CustomResourceDefinitionVersion,
  CustomResourceSubresources,
  SelectableField,
} from '#apiextensions-apiserver/schema/apiextensions_v1.gen';
import { maxSelectableFields, type Requirements } from './requirements.ts';
import { validateSchema } from './schema.ts';

const columnTypes = ['boolean', 'date', 'integer', 'number', 'string'];
const columnFormats = ['byte', 'date', 'date-time', 'double', 'float', 'int32', 'int64', 'password'];
const maxWarningBytes = 256;

/** Validates a version without the shared fields. Upstream: validateCustomResourceDefinitionVersion. */
export function* validateVersion(
  path: Path,
  version: CustomResourceDefinitionVersion,
  hasStatus: boolean,
  needsStructural: boolean,
  requirements: Requirements,
): Steps<FieldError[]> {
  const { deprecated = false, deprecationWarning, schema, subresources, selectableFields = [], name = '' } = version;
  const props = schema?.openAPIV3Schema as JsonSchemaProps | undefined;
  const errors = warningErrors(deprecated, deprecationWarning).map((message) =>
    // Upstream's value is a pointer, which is printed as JSON.
    invalid(path.child('deprecationWarning'), new JsonText(encodeJson(deprecationWarning)), message),
  );
  addErrors(errors, yield* validateSchema(path.child('schema'), props, hasStatus, needsStructural, requirements, name));
  addErrors(errors, validateSubresources(path.child('subresources'), subresources));
  for (const [i, column] of (version.additionalPrinterColumns ?? []).entries())
    addErrors(errors, validateColumn(path.child('additionalPrinterColumns').index(i), column));
  if (selectableFields.length > 0) {
    const place = path.child('selectableFields');
    if (!props) errors.push(invalid(place, '', 'may only be set when `version.schema.openAPIV3Schema` is not included'));
    else addErrors(errors, validateSelectableFields(path, selectableFields, props, requirements.tooManySelectableFields.has(name)));
  }
  return errors;
}

function warningErrors(deprecated: boolean, warning: string | undefined): string[] {
  if (warning === undefined) return [];
  if (!deprecated) return ['can only be set for deprecated versions'];
  const errors: string[] = [];
  if (Buffer.byteLength(warning) > maxWarningBytes) errors.push('must be <= 256 characters long');
  if (warning === '') errors.push('must not be an empty string');
  let at = 0;
  for (const char of warning) {
    if (!isPrint(char)) {
      errors.push(`must only contain printable UTF-8 characters; non-printable character found at index ${at}`);
      break;
    }
    at += Buffer.byteLength(char);
  }
  return errors;
}

/** Validates the subresources. Upstream: ValidateCustomResourceDefinitionSubresources. */
export function validateSubresources(path: Path, subresources: CustomResourceSubresources | undefined): FieldError[] {
  const { scale } = subresources ?? {};
  if (!scale) return [];
  const { specReplicasPath = '', statusReplicasPath = '', labelSelectorPath = '' } = scale;
  const errors = [
    ...replicasPath(path.child('scale.specReplicasPath'), specReplicasPath, '.spec'),
    ...replicasPath(path.child('scale.statusReplicasPath'), statusReplicasPath, '.status'),
  ];
  if (labelSelectorPath !== '') {
    const place = path.child('scale.labelSelectorPath');
    const simple = simpleJsonPath(place, labelSelectorPath);
    if (simple.length > 0) addErrors(errors, simple);
    else if (!/^\.(?:spec|status)\./.test(labelSelectorPath))
      errors.push(invalid(place, labelSelectorPath, 'should be a json path under either .spec or .status'));
  }
  return errors;
}

function replicasPath(place: Path, path: string, parent: '.spec' | '.status'): FieldError[] {
  if (path === '') return [required(place)];
  const errors = simpleJsonPath(place, path);
  if (errors.length === 0 && !path.startsWith(`${parent}.`)) errors.push(invalid(place, path, `should be a json path under ${parent}`));
  return errors;
}

function simpleJsonPath(place: Path, path: string): FieldError[] {
  return path.startsWith('.') ? [] : [invalid(place, path, 'must be a simple json path starting with .')];
}

/** Validates a printer column. Upstream: ValidateCustomResourceColumnDefinition. */
export function validateColumn(
  path: Path,
  { name = '', type = '', format = '', jsonPath = '' }: CustomResourceColumnDefinition,
): FieldError[] {
  const errors: FieldError[] = [];
  const types = `must be one of ${columnTypes.join(',')}`;
  if (name === '') errors.push(required(path.child('name')));
  if (type === '') errors.push(required(path.child('type'), types));
  else if (!columnTypes.includes(type)) errors.push(invalid(path.child('type'), type, types));
  if (format !== '' && !columnFormats.includes(format))
    errors.push(invalid(path.child('format'), format, `must be one of ${columnFormats.join(',')}`));
  if (jsonPath === '') errors.push(required(path.child('JSONPath')));
  else addErrors(errors, simpleJsonPath(path.child('JSONPath'), jsonPath));
  return errors;
}

/** Validates selectable fields. `path` is that of their parent. Upstream: ValidateCustomResourceSelectableFields. */
export function validateSelectableFields(
  path: Path,
  fields: readonly SelectableField[],
  props: JsonSchemaProps,
  mayBeTooMany: boolean,
): FieldError[] {
  let schema: ReturnType<typeof newStructural>;
  try {
    schema = newStructural(props);
  } catch (error) {
    if (error instanceof StructuralError) return [invalid(path.child('schema.openAPIV3Schema'), '', error.message)];
    throw error;
  }
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, { jsonPath = '' }] of fields.entries()) {
    const place = path.child('selectableFields').index(i).child('jsonPath');
    if (jsonPath === '') {
      errors.push(required(place));
      continue;
    }
    try {
      const found = validFieldPath(jsonPath, schema, { arrayNotation: false });
      if (found.root === 'metadata') errors.push(invalid(place, jsonPath, 'must not point to fields in metadata'));
      if (!['string', 'boolean', 'integer'].includes(found.schema.type)) {
        const detail = 'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';
        errors.push(invalid(place, jsonPath, detail));
      }
      if (seen.has(found.path.toString())) errors.push(duplicate(place, jsonPath));
      seen.add(found.path.toString());
    } catch (error) {
      if (!(error instanceof FieldPathError)) throw error;
      errors.push(invalid(place, jsonPath, `is an invalid path: ${error.message}`));
    }
  }
  if (seen.size > maxSelectableFields && !mayBeTooMany)
    errors.push(tooMany(path.child('selectableFields'), seen.size, maxSelectableFields));
  return errors;
}
