import { plainToInstance } from 'class-transformer';
import { getMetadataStorage, validateSync } from 'class-validator';

/** The keywords of JSON Schema that the schema of a configuration uses. */
export interface Schema {
  readonly [keyword: string]: unknown;
}

type ConfigurationClass = new () => object;
type Members = Readonly<Record<string, unknown>>;

/** A validator of class-validator on a property. */
interface Rule {
  /** As in class-validator: `isString`, `min`; undefined for nested objects. */
  readonly name: string | undefined;
  readonly type: string;
  readonly constraints: readonly unknown[];
  readonly each: boolean;
}

/** A string with a reference, whatever the rest of its schema demands. */
export const referenceSchema: Schema = { type: 'string', pattern: String.raw`\$\{(env|file):` };

/**
 * Returns the JSON Schema of a configuration class from its decorators: those of class-validator, and `Type` of class-transformer for
 * nested classes. A property is required if the class's own default is invalid. Validators without an equivalent in JSON Schema, such as
 * functions, are left out.
 */
export function classSchema(Type: ConfigurationClass): Schema {
  const defaults = new Type() as Members;
  const invalid = new Set(validateSync(defaults, { forbidUnknownValues: false }).map(({ property }) => property));
  const properties = [...rulesOf(Type)].map(([name, rules]): [string, Schema] => [
    name,
    { ...propertySchema(Type, name, rules), ...(!invalid.has(name) && defaultOf(defaults[name])) },
  ]);
  const required = properties.map(([name]) => name).filter((name) => invalid.has(name));
  return {
    type: 'object',
    properties: Object.fromEntries(properties),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

/** Returns the keywords for numbers that the decorators of a property set. */
export function numberRange(Type: ConfigurationClass, property: string): Schema {
  return keywordsOf((rulesOf(Type).get(property) ?? []).filter(({ name }) => name === 'min' || name === 'max'));
}

function rulesOf(Type: ConfigurationClass): ReadonlyMap<string, Rule[]> {
  const rules = new Map<string, Rule[]>();
  for (const found of getMetadataStorage().getTargetValidationMetadatas(Type, '', false, false)) {
    const { propertyName, name, type, constraints, each } = found as typeof found & { readonly constraints?: readonly unknown[] };
    const all = rules.get(propertyName) ?? [];
    all.push({ name, type, constraints: constraints ?? [], each: each ?? false });
    rules.set(propertyName, all);
  }
  return rules;
}

function propertySchema(Type: ConfigurationClass, name: string, rules: readonly Rule[]): Schema {
  const isNested = rules.some(({ type }) => type === 'nestedValidation');
  const isArray = rules.some((rule) => rule.each || rule.name?.startsWith('array') || rule.name === 'isArray');
  const nested = isNested ? nestedClass(Type, name, isArray) : undefined;
  if (!isArray) return nested ? classSchema(nested) : withReference(keywordsOf(rules));
  const items = nested ? classSchema(nested) : withReference(keywordsOf(rules.filter(({ each }) => each)));
  const own = keywordsOf(rules.filter(({ each }) => !each));
  return { ...own, type: 'array', ...(Object.keys(items).length > 0 && { items }) };
}

/** Returns the class that class-transformer creates for a nested object; undefined for a plain one. */
function nestedClass(Type: ConfigurationClass, name: string, isArray: boolean): ConfigurationClass | undefined {
  const made = (plainToInstance(Type, { [name]: isArray ? [{}] : {} }) as Members)[name];
  const one = (isArray ? (made as readonly object[])[0] : made) as object;
  return one.constructor === Object ? undefined : (one.constructor as ConfigurationClass);
}

/** Keywords by validator. */
const keywords: Readonly<Record<string, (constraints: readonly unknown[]) => Schema>> = {
  isString: () => ({ type: 'string' }),
  isNotEmpty: () => ({ minLength: 1 }),
  isLength: ([least, most]) => ({ type: 'string', minLength: least, ...(most !== undefined && { maxLength: most }) }),
  minLength: ([least]) => ({ minLength: least }),
  maxLength: ([most]) => ({ maxLength: most }),
  matches: ([pattern]) =>
    pattern instanceof RegExp && pattern.flags === '' ? { type: 'string', pattern: pattern.source } : { type: 'string' },
  isInt: () => ({ type: 'integer' }),
  isNumber: () => ({ type: 'number' }),
  min: ([least]) => ({ minimum: least }),
  max: ([most]) => ({ maximum: most }),
  isBoolean: () => ({ type: 'boolean' }),
  isIn: ([values]) => ({ enum: values }),
  isObject: () => ({ type: 'object' }),
  isTime: () => ({ type: 'string' }),
  arrayMinSize: ([least]) => ({ minItems: least }),
  arrayMaxSize: ([most]) => ({ maxItems: most }),
  arrayNotEmpty: () => ({ minItems: 1 }),
  arrayUnique: () => ({ uniqueItems: true }),
};

function keywordsOf(rules: readonly Rule[]): Schema {
  return Object.assign({}, ...rules.map(({ name, constraints }) => keywords[name ?? '']?.(constraints) ?? {})) as Schema;
}

/** Allows a reference where the keywords of a string would refuse it. */
function withReference(schema: Schema): Schema {
  const values = schema['enum'] as readonly unknown[] | undefined;
  const isText = schema['type'] === 'string' || (values?.every((value) => typeof value === 'string') ?? false);
  const isFree = !values && schema['pattern'] === undefined && schema['maxLength'] === undefined;
  return isText && !isFree ? { anyOf: [schema, referenceSchema] } : schema;
}

function defaultOf(value: unknown): Schema {
  const isShown = ['string', 'number', 'boolean'].includes(typeof value) || (Array.isArray(value) && value.length > 0);
  return isShown ? { default: value } : {};
}
