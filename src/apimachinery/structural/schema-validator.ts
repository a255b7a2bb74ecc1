import { getOwn, type JsonObject } from '../patch/own-property.ts';
import { deepEqual } from '../runtime/equality.ts';
import { encodeJson } from '../runtime/json/json.ts';
import { Float64, isInt64, isNumber, type JsonNumber, toFloat } from '../runtime/numbers.ts';
import { formatFloat, quote } from '../runtime/quote.ts';
import { compileRegexp, type Regexp } from '../runtime/regexp.ts';
import type { FieldError, Path } from '../validation/field.ts';
import { checkEach } from '../validation/pausing.ts';
import { keysOf, presentKeys } from '../runtime/wide-objects.ts';
import { type Correlation, equalsOld, oldItems, oldProperty } from './correlation.ts';
import { formatCheck, isSupportedFormat } from './formats.ts';
import {
  additionalPropertiesSchema,
  forbidsAdditionalProperties,
  itemsSchema,
  type JsonSchemaProps,
  schemaNumber,
} from './json-schema-props.ts';
import { ValidationResult } from './validation-result.ts';

type NumberKind = 'integer' | 'number';
const maxSafeFloat = Number.MAX_SAFE_INTEGER;
const maxFloat32 = 3.4028234663852886e38;

/** Returns upstream's name for the type of a value. */
function typeOf(value: unknown): string {
  if (Array.isArray(value)) return 'array';
  switch (typeof value) {
    case 'string':
      return 'string';
    case 'boolean':
      return 'boolean';
    case 'bigint':
      return 'integer';
    case 'number':
      return Number.isSafeInteger(value) ? 'integer' : 'number';
    default:
      return value instanceof Float64 ? 'number' : 'object';
  }
}

export interface SchemaValidatorOptions {
  /** Ignores formats that are unknown or do not apply to the type. */
  readonly onlySupportedFormats: boolean;
}

/**
 * Validates values against a JSON schema with upstream's messages; on update, unchanged invalid values are accepted (ratcheting). Compiled
 * once. Upstream: kube-openapi/pkg/validation/validate over apiextensions-apiserver/pkg/apiserver/validation.
 */
export class SchemaValidator {
  readonly #props: JsonSchemaProps;
  readonly #types: readonly string[];
  readonly #format: string;
  readonly #formatCheck: ((text: string) => boolean) | undefined;
  readonly #pattern: Regexp | undefined;
  readonly #items: SchemaValidator | undefined;
  readonly #properties: ReadonlyMap<string, SchemaValidator>;
  readonly #additionalProperties: SchemaValidator | undefined;
  readonly #anyOf: readonly SchemaValidator[];
  readonly #oneOf: readonly SchemaValidator[];
  readonly #allOf: readonly SchemaValidator[];
  readonly #not: SchemaValidator | undefined;

  /** Throws RegexpError for a malformed pattern. */
  constructor(props: JsonSchemaProps, options: SchemaValidatorOptions = { onlySupportedFormats: true }) {
    this.#props = props;
    const { type = '', format = '', pattern, not } = props;
    this.#types = props['x-kubernetes-int-or-string'] && options.onlySupportedFormats ? ['integer', 'string'] : type === '' ? [] : [type];
    const isSupported = !options.onlySupportedFormats || isSupportedFormat(format, this.#types.length === 1 ? type : '');
    this.#format = isSupported ? format : '';
    this.#formatCheck = formatCheck(this.#format);
    this.#pattern = pattern ? compileRegexp(pattern) : undefined;
    const compile = (schema: JsonSchemaProps): SchemaValidator => new SchemaValidator(schema, options);
    const items = itemsSchema(props);
    this.#items = items && compile(items);
    this.#properties = new Map(Object.entries(props.properties ?? {}).map(([name, schema]) => [name, compile(schema)]));
    const additional = additionalPropertiesSchema(props);
    this.#additionalProperties = additional && compile(additional);
    this.#anyOf = (props.anyOf ?? []).map(compile);
    this.#oneOf = (props.oneOf ?? []).map(compile);
    this.#allOf = (props.allOf ?? []).map(compile);
    this.#not = not && compile(not);
  }

  /** Returns the validator of a property; undefined if the schema does not describe it. */
  property(name: string): SchemaValidator | undefined {
    return this.#properties.get(name);
  }

  /** Validates a value. `at` is its path, undefined at the root. */
  validate(at: Path | undefined, value: unknown): FieldError[] {
    const result = new ValidationResult();
    this.#validate(value, '', undefined, result);
    return result.toFieldErrors(at);
  }

  /** Validates a changed value. `old` is undefined if there was none. */
  validateUpdate(at: Path | undefined, value: unknown, old: unknown): FieldError[] {
    const result = new ValidationResult();
    this.#ratchet(value, '', { old, shape: this.#props }, result);
    return result.toFieldErrors(at);
  }

  #ratchet(value: unknown, path: string, correlation: Correlation | undefined, result: ValidationResult): void {
    const { mark } = result;
    this.#validate(value, path, correlation, result);
    if (result.mark > mark && equalsOld(value, correlation)) result.dropSince(mark);
  }

  #validate(value: unknown, path: string, correlation: Correlation | undefined, result: ValidationResult): void {
    if (value === null || value === undefined) {
      this.#validateNull(path, result);
      return;
    }
    const type = typeOf(value);
    if (this.#types.length > 0 || this.#format !== '') {
      if (this.#validateType(value, type, path, result)) result.matchCount += 1;
      result.matchCount += 1;
    }
    this.#validateAlternatives(value, path, correlation, result);
    result.matchCount += 2;
    switch (type) {
      case 'string':
        this.#validateString(value as string, path, result);
        result.matchCount += this.#formatCheck ? 2 : 1;
        break;
      case 'integer':
      case 'number':
        this.#validateNumber(value as JsonNumber, path, result);
        result.matchCount += 2;
        break;
      case 'array':
        this.#validateList(value as readonly unknown[], path, correlation, result);
        result.matchCount += 2;
        break;
      default:
    }
    this.#validateEnum(value, path, result);
    result.matchCount += 1;
    if (type === 'object') {
      this.#validateObject(value as JsonObject, path, correlation, result);
      result.matchCount += 1;
    }
    result.matchCount += 1;
  }

  #validateNull(path: string, result: ValidationResult): void {
    if (this.#types.length > 0 && !this.#props.nullable) result.wrongType(path, this.#types.join(','), 'null');
    else result.matchCount += 1;
    this.#validateEnum(null, path, result);
  }

  /** Checks the type; returns true if it matches. */
  #validateType(value: unknown, type: string, path: string, result: ValidationResult): boolean {
    const types = this.#types;
    const format = this.#format;
    const fits =
      types.includes(type) ||
      (type === 'integer' && types.includes('number')) ||
      (type === 'number' && types.includes('integer') && isJsonInteger(Number(value)));
    if (type !== 'string' && type !== 'array' && format !== '' && !fits) {
      const own = type === 'integer' ? 'int64' : type === 'number' ? 'float64' : '';
      if (own !== format) {
        result.wrongType(path, format, own);
        return false;
      }
    }
    if (format !== '' && (type === 'string' || type === 'array') && !types.includes('number') && !types.includes('integer')) return true;
    if (fits) return true;
    result.wrongType(path, types.join(','), type);
    return false;
  }

  #validateAlternatives(value: unknown, path: string, correlation: Correlation | undefined, result: ValidationResult): void {
    const attempt = (schema: SchemaValidator): ValidationResult => {
      const attempted = new ValidationResult();
      schema.#validate(value, path, correlation, attempted);
      return attempted;
    };
    if (this.#anyOf.length > 0) validateAnyOf(this.#anyOf, attempt, path, result);
    if (this.#oneOf.length > 0) validateOneOf(this.#oneOf, attempt, path, result);
    if (this.#allOf.length > 0) validateAllOf(this.#allOf, attempt, path, result);
    if (this.#not && attempt(this.#not).isValid) result.add(`${quote(path)} must not validate the schema (not)`);
  }

  #validateString(value: string, path: string, result: ValidationResult): void {
    const { pattern } = this.#props;
    const [maxLength, minLength] = [schemaNumber(this.#props.maxLength), schemaNumber(this.#props.minLength)];
    if (maxLength !== undefined && runes(value) > maxLength) result.tooLong(path, maxLength);
    else if (minLength !== undefined && runes(value) < minLength)
      result.invalid(path, `${path} in body should be at least ${minLength} chars long`, value);
    else if (this.#pattern && !this.#pattern.test(value)) result.invalid(path, `${path} in body should match '${pattern}'`, value);
    if (this.#formatCheck && !this.#formatCheck(value)) result.wrongType(path, this.#format, value);
  }

  #validateNumber(value: JsonNumber, path: string, result: ValidationResult): void {
    const { exclusiveMaximum = false, exclusiveMinimum = false } = this.#props;
    const [multipleOf, maximum, minimum] = [this.#props.multipleOf, this.#props.maximum, this.#props.minimum].map((bound) =>
      schemaNumber(bound),
    );
    const isInteger = isInt64(value);
    // Value for comparisons: an int64 exactly.
    const compared = isInteger ? value : toFloat(value);
    this.#checkRange(value, 'Checked', path, result);
    const inRange = (bound: number, name: string): boolean => this.#checkRange(bound, name, path, result);
    // For an integer, the bounds are truncated to integers.
    const asNative = (bound: number, native: boolean): number => (native && isInteger ? Math.trunc(bound) : bound);
    if (multipleOf !== undefined) {
      const isNative = inRange(multipleOf, 'MultipleOf');
      const factor = asNative(multipleOf, isNative);
      if (factor <= 0) result.invalid(path, `factor MultipleOf declared for ${path} must be positive: ${formatFloat(factor)}`, factor);
      else if (!(isNative && isInteger ? isIntegerMultiple(value, factor) : isMultiple(toFloat(value), factor)))
        result.invalid(path, `${path} in body should be a multiple of ${formatFloat(factor)}`, value);
    }
    if (minimum !== undefined) {
      const bound = asNative(minimum, inRange(minimum, 'Minimum boundary'));
      if (exclusiveMinimum ? compared <= bound : compared < bound) {
        const words = exclusiveMinimum ? 'greater than' : 'greater than or equal to';
        result.invalid(path, `${path} in body should be ${words} ${boundText(bound, isInteger)}`, value);
      }
    }
    if (maximum !== undefined) {
      const bound = asNative(maximum, inRange(maximum, 'Maximum boundary'));
      if (exclusiveMaximum ? compared >= bound : compared > bound) {
        const words = exclusiveMaximum ? 'less than' : 'less than or equal to';
        result.invalid(path, `${path} in body should be ${words} ${boundText(bound, isInteger)}`, value);
      }
    }
  }

  /** Checks that a number fits the schema's type and format. */
  #checkRange(value: JsonNumber, name: string, path: string, result: ValidationResult): boolean {
    const type = (this.#types.length === 1 ? this.#types[0] : '') as NumberKind | '';
    const format = this.#format;
    const fits =
      type === 'integer'
        ? isIntegerOf(value, format === 'int32' ? 32 : 64)
        : !(type === 'number' && format === 'float') || Math.abs(toFloat(value)) <= maxFloat32;
    if (fits) return true;
    const known = type === 'integer' ? ['int32', 'int64'] : ['float', 'double'];
    const words = known.includes(format) ? `with format ${format}` : '(default format)';
    result.add(`${name} value must be of type ${type} ${words} in ${path}`);
    return false;
  }

  #validateList(list: readonly unknown[], path: string, correlation: Correlation | undefined, result: ValidationResult): void {
    const { uniqueItems } = this.#props;
    const [minItems, maxItems] = [schemaNumber(this.#props.minItems), schemaNumber(this.#props.maxItems)];
    const items = this.#items;
    if (items) {
      const findOld = correlation && oldItems(correlation);
      this.#validateEach(list, list, result, (item, index, into) => items.#ratchet(item, `${path}[${index}]`, findOld?.(item), into));
    }
    const size = list.length;
    if (minItems !== undefined && size < minItems) result.invalid(path, `${path} in body should have at least ${minItems} items`, size);
    if (maxItems !== undefined && size > maxItems) result.tooMany(path, 'items', size, maxItems);
    if (uniqueItems && new Set(list.map((value) => encodeJson(value))).size < size)
      result.invalid(path, `${path} in body shouldn't contain duplicates`, undefined);
  }

  /** Validates each part of a container; within a chunked validation, it may yield between them. */
  #validateEach<T>(
    container: object,
    parts: readonly T[],
    result: ValidationResult,
    validate: (part: T, index: number, into: ValidationResult) => void,
  ): void {
    if (parts.length < manyParts) {
      for (let i = 0; i < parts.length; i++) validate(parts[i]!, i, result);
      return;
    }
    const { state } = checkEach(container, this, parts, newResult, (_errors, part, index, all) => {
      const one = newResult();
      validate(part, index, one);
      all.merge(one);
    });
    result.merge(state);
  }

  #validateEnum(value: unknown, path: string, result: ValidationResult): void {
    const { enum: allowed } = this.#props;
    if (!allowed || allowed.length === 0 || (value !== null && allowed.some((one) => isAllowed(value, one)))) return;
    result.notSupported(
      path,
      value,
      allowed.map((one) => (typeof one === 'string' ? one : encodeJson(one))),
    );
  }

  #validateObject(object: JsonObject, path: string, correlation: Correlation | undefined, result: ValidationResult): void {
    const { required } = this.#props;
    const [minProperties, maxProperties] = [schemaNumber(this.#props.minProperties), schemaNumber(this.#props.maxProperties)];
    if (minProperties !== undefined || maxProperties !== undefined) {
      const size = presentKeys(object).length;
      if (minProperties !== undefined && size < minProperties)
        result.invalid(path, `${path} in body should have at least ${minProperties} properties`, size);
      if (maxProperties !== undefined && size > maxProperties) result.tooMany(path, 'properties', size, maxProperties);
    }
    const names = keysOf(object);
    const forbidsOthers = forbidsAdditionalProperties(this.#props);
    const validateProperty = (name: string, into: ValidationResult): void => {
      if (object[name] === undefined) return;
      const property = this.#properties.get(name);
      const place = path === '' && property ? name : `${path}.${name}`;
      const validator = property ?? this.#additionalProperties;
      if (validator) validator.#ratchet(getOwn(object, name), place, correlation && oldFieldOf(correlation, path, name), into);
      else if (forbidsOthers) into.invalid(path, `${path}.${name} in body is a forbidden property`, name);
    };
    if (this.#properties.size > 0 || this.#additionalProperties || forbidsOthers)
      this.#validateEach(object, names, result, (name, _index, into) => validateProperty(name, into));
    for (const name of required ?? []) if (!Object.hasOwn(object, name)) result.required(`${path}.${name}`);
  }
}

const manyParts = 1_024;

const newResult = (): ValidationResult => new ValidationResult();

type Attempt = (schema: SchemaValidator) => ValidationResult;

function validateAnyOf(schemas: readonly SchemaValidator[], attempt: Attempt, path: string, result: ValidationResult): void {
  let best: ValidationResult | undefined;
  for (const schema of schemas) {
    const attempted = attempt(schema);
    if (attempted.isValid) return result.merge(attempted);
    if (!best || attempted.matchCount > best.matchCount) best = attempted;
  }
  result.add(`${quote(path)} must validate at least one schema (anyOf)`);
  if (best) result.merge(best);
}

function validateOneOf(schemas: readonly SchemaValidator[], attempt: Attempt, path: string, result: ValidationResult): void {
  let best: ValidationResult | undefined;
  const valid: ValidationResult[] = [];
  for (const schema of schemas) {
    const attempted = attempt(schema);
    if (attempted.isValid) valid.push(attempted);
    else if (!best || attempted.matchCount > best.matchCount) best = attempted;
  }
  if (valid.length === 1) return result.merge(valid[0]!);
  const found = valid.length === 0 ? 'Found none valid' : `Found ${valid.length} valid alternatives`;
  result.add(`${quote(path)} must validate one and only one schema (oneOf). ${found}`);
  if (valid.length === 0 && best) result.merge(best);
}

function validateAllOf(schemas: readonly SchemaValidator[], attempt: Attempt, path: string, result: ValidationResult): void {
  let valid = 0;
  for (const schema of schemas) {
    const attempted = attempt(schema);
    if (attempted.isValid) valid += 1;
    result.merge(attempted);
  }
  if (valid < schemas.length) result.add(`${quote(path)} must validate all the schemas (allOf)${valid === 0 ? '. None validated' : ''}`);
}

/** Returns the correlated old field. Kind and apiVersion of the object itself have none, so that they are always validated. */
function oldFieldOf(correlation: Correlation, path: string, name: string): Correlation | undefined {
  return path === '' && (name === 'kind' || name === 'apiVersion') ? undefined : oldProperty(correlation, name);
}

function runes(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function boundText(bound: number, isInteger: boolean): string {
  return isInteger && Number.isInteger(bound) ? BigInt(bound).toString() : formatFloat(bound);
}

function isIntegerOf(value: JsonNumber, bits: 32 | 64): boolean {
  const exact = typeof value === 'bigint' ? value : toFloat(value);
  if (typeof exact === 'number' && !Number.isInteger(exact)) return false;
  const integer = BigInt(exact);
  return BigInt.asIntN(bits, integer) === integer;
}

/**
 * True if a value equals an enum value, directly or after Go's conversion, which truncates a number if an integer is allowed, and converts
 * an integer to a code point if a string is. Upstream: kube-openapi/pkg/validation/validate/values.go (Enum).
 */
function isAllowed(value: unknown, allowed: unknown): boolean {
  if (deepEqual(value, allowed)) return true;
  if (!isNumber(value)) return false;
  if (isNumber(allowed)) {
    if (isInt64(allowed)) return !isInt64(value) && Math.trunc(toFloat(value)) === Number(allowed);
    return isInt64(value) && Number(value) === toFloat(allowed);
  }
  return typeof allowed === 'string' && isInt64(value) && runeText(Number(value)) === allowed;
}

/** Returns Go's conversion of an integer to a string. */
function runeText(rune: number): string {
  const isRune = rune >= 0 && rune <= 0x10ffff && !(rune >= 0xd800 && rune <= 0xdfff);
  return isRune ? String.fromCodePoint(rune) : '\uFFFD';
}

function isIntegerMultiple(value: number | bigint, factor: number): boolean {
  return typeof value === 'bigint' ? value % BigInt(factor) === 0n : value % factor === 0;
}

function isMultiple(value: number, factor: number): boolean {
  return isJsonInteger(factor < 1 ? (1 / factor) * value : value / factor);
}

/** True for a float64 close to an integer that a double can represent. Upstream: go-openapi/swag convert.go (IsFloat64AJSONInteger). */
function isJsonInteger(quotient: number): boolean {
  if (!(Math.abs(quotient) <= maxSafeFloat)) return false;
  const rounded = Math.trunc(quotient);
  const difference = Math.abs(quotient - rounded);
  return quotient === rounded || difference / Math.min(Math.abs(quotient) + Math.abs(rounded), Number.MAX_VALUE) < 1e-9;
}
