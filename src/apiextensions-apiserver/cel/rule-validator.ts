import { timed } from '#apiserver/cel/cel-durations';
import { getOwn, isJsonObject, type JsonObject } from '#apimachinery/patch/own-property';
import { type Correlation, equalsOld, oldItems, oldProperty } from '#apimachinery/structural/correlation';
import { schemaHas, type ValidationRule } from '#apimachinery/structural/json-schema-props';
import type { Structural } from '#apimachinery/structural/structural';
import {
  duplicate,
  type FieldError,
  FieldError as Failure,
  forbidden,
  invalid,
  omitValue,
  Path,
  required,
} from '#apimachinery/validation/field';
import { storedExpressionsEnvironment } from '#apiserver/cel/base-environment';
import { maxEvaluatedMessageExpressionSizeBytes, perCallLimit, runtimeCELCostBudget } from '#apiserver/cel/cost/limits';
import { activationOf } from '#apiserver/cel/environment';
import type { Activation } from '#apiserver/cel/runtime/frame';
import { CelError, Optional, type Value } from '#apiserver/cel/runtime/values';
import { CelSchema, schemaDeclType } from '#apiserver/cel/schema';
import { valuesOf } from '#apiserver/cel/schema-values';
import { type CompiledRule, compileRules } from './compilation.ts';

const stored = { rule: () => storedExpressionsEnvironment, message: () => storedExpressionsEnvironment };
const costLimitExceeded = 'operation cancelled: actual cost limit exceeded';
const outOfBudget = 'validation failed due to running out of cost budget, no further validation rules will be run';

/** State of one validation. */
interface Run {
  readonly errors: FieldError[];
  readonly warn: (text: string) => void;
  /** Remaining cost; no more rules are evaluated below 0. */
  budget: number;
}

/** The old value of the validated part, and of its nearest ancestor that has one. */
interface Ratcheting {
  readonly current: (Correlation & { readonly value: unknown }) | undefined;
  readonly nearest: (Correlation & { readonly value: unknown }) | undefined;
}

const none: Ratcheting = { current: undefined, nearest: undefined };

/** True if the value is unchanged, so that its errors are ratcheted. */
function isUnchanged({ current, nearest }: Ratcheting): boolean {
  const correlation = current ?? nearest;
  return equalsOld(correlation?.value, correlation);
}

function within(ratcheting: Ratcheting, value: unknown, find: (correlation: Correlation) => Correlation | undefined): Ratcheting {
  const { current } = ratcheting;
  if (!current) return ratcheting;
  const found = find(current);
  return { current: found && { ...found, value }, nearest: current };
}

/**
 * Evaluates the rules of a schema and its nested schemas. They are compiled once, on the first write to the version. Upstream:
 * apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go.
 */
export class RuleValidator {
  readonly #rules: readonly CompiledRule[];
  readonly #items: RuleValidator | undefined;
  readonly #properties: ReadonlyMap<string, RuleValidator>;
  readonly #additionalProperties: RuleValidator | undefined;
  readonly #type: string;
  readonly #valueOf: (data: unknown) => Value;
  readonly #isRoot: boolean;

  private constructor(
    readonly schema: Structural,
    celSchema: CelSchema,
    isRoot: boolean,
  ) {
    const rules = schema.props['x-kubernetes-validations'] ?? [];
    const declType = rules.length > 0 ? schemaDeclType(celSchema, isRoot || schema.embeddedResource) : undefined;
    this.#rules = declType ? timed('compilation', () => compileRules(rules, schema, declType, stored)) : [];
    this.#isRoot = isRoot || schema.embeddedResource;
    this.#valueOf = valuesOf(this.#isRoot ? celSchema.asResourceRoot() : celSchema);
    this.#type = schema.type;
    this.#items = schema.items && celSchema.items && RuleValidator.#of(schema.items, celSchema.items);
    this.#additionalProperties =
      schema.additionalProperties &&
      celSchema.additionalProperties &&
      RuleValidator.#of(schema.additionalProperties, celSchema.additionalProperties);
    const properties = new Map<string, RuleValidator>();
    for (const [name, property] of schema.properties) {
      const part = celSchema.properties?.get(name);
      const validator = part && RuleValidator.#of(property, part);
      if (validator) properties.set(name, validator);
    }
    this.#properties = properties;
  }

  static #of(schema: Structural, celSchema: CelSchema): RuleValidator | undefined {
    return hasRules(schema) ? new RuleValidator(schema, celSchema, false) : undefined;
  }

  /** Returns undefined if there is no rule. `isRoot` is true for the schema of a whole object. */
  static for(schema: Structural, isRoot: boolean): RuleValidator | undefined {
    return hasRules(schema) ? new RuleValidator(schema, new CelSchema(schema.props), isRoot) : undefined;
  }

  /** Validates a value. `old` is undefined if there was none. `warn` is called for errors of unchanged values. */
  validate(path: Path | undefined, value: unknown, old: unknown, ratchets: boolean, warn: (text: string) => void): FieldError[] {
    const run: Run = { errors: [], warn, budget: runtimeCELCostBudget };
    const current = ratchets ? { value, old, shape: this.schema.props } : undefined;
    timed('evaluation', () => this.#validate(run, path, value, old, current ? { current, nearest: undefined } : none));
    return run.errors;
  }

  #validate(run: Run, path: Path | undefined, value: unknown, old: unknown, ratcheting: Ratcheting): void {
    if (value === null || value === undefined) return;
    this.#evaluate(run, path, value, old ?? undefined, ratcheting);
    if (run.budget < 0) return;
    if (Array.isArray(value)) this.#validateItems(run, path, value, old, ratcheting);
    else if (isJsonObject(value)) this.#validateProperties(run, path, value, isJsonObject(old) ? old : undefined, ratcheting);
  }

  #validateItems(run: Run, path: Path | undefined, list: readonly unknown[], old: unknown, ratcheting: Ratcheting): void {
    const items = this.#items;
    if (!items) return;
    const find = oldItems({ old, shape: this.schema.props });
    const findCorrelated = ratcheting.current && oldItems(ratcheting.current);
    for (const [index, item] of list.entries()) {
      const place = path ? path.index(index) : new Path(String(index), undefined, true);
      items.#validate(
        run,
        place,
        item,
        find?.(item)?.old,
        within(ratcheting, item, () => findCorrelated?.(item)),
      );
      if (run.budget < 0) return;
    }
  }

  #validateProperties(run: Run, path: Path | undefined, object: JsonObject, old: JsonObject | undefined, ratcheting: Ratcheting): void {
    for (const name of Object.keys(object)) {
      const validator = this.#properties.get(name) ?? this.#additionalProperties;
      if (!validator) continue;
      const value = getOwn(object, name);
      const isTypeMeta = ratcheting.current && !ratcheting.nearest && (name === 'apiVersion' || name === 'kind');
      const inner = isTypeMeta ? none : within(ratcheting, value, (correlation) => oldProperty(correlation, name));
      const isKey = !this.#properties.has(name);
      const place = path ? (isKey ? path.key(name) : path.child(name)) : new Path(name, undefined, isKey);
      validator.#validate(run, place, value, old && getOwn(old, name), inner);
      if (run.budget < 0) return;
    }
  }

  #evaluate(run: Run, path: Path | undefined, value: unknown, old: unknown, ratcheting: Ratcheting): void {
    if (this.#rules.length === 0) return;
    if (run.budget <= 0) return end(run, invalid(path, this.#type, outOfBudget));
    const self = this.#valueOf(value);
    const oldSelf = old === undefined ? undefined : this.#valueOf(old);
    const activation = activationOf({ self, ...(oldSelf !== undefined && { oldSelf }) });
    const optional = activationOf({ self, oldSelf: oldSelf === undefined ? Optional.none : new Optional(oldSelf) });
    for (const compiled of this.#rules) {
      const { rule, program, error, usesOldSelf } = compiled;
      if (error !== undefined) run.errors.push(invalid(path, this.#type, `rule compile error: ${error}`));
      if (!program || (usesOldSelf && old === undefined && !rule.optionalOldSelf)) continue;
      const { value: result, cost } = program.evaluate(rule.optionalOldSelf ? optional : activation, perCallLimit);
      if (result instanceof CelError && result.message.startsWith(costLimitExceeded)) {
        const detail = `'${result.message}': no further validation rules will be run due to call cost exceeds limit for rule: ${shown(rule)}`;
        return end(run, invalid(path, this.#type, detail));
      }
      if (cost > run.budget) return end(run, invalid(path, this.#type, outOfBudget));
      run.budget -= cost;
      if (result instanceof CelError) run.errors.push(invalid(path, this.#type, failure(result, rule)));
      else if (result !== true) this.#report(run, compiled, path, value, activation, ratcheting);
      if (run.budget < 0) return;
    }
  }

  /** Reports a failed rule; as a warning if the value is unchanged. */
  #report(
    run: Run,
    { rule, message, usesOldSelf, fieldPath }: CompiledRule,
    path: Path | undefined,
    value: unknown,
    activation: Activation,
    ratcheting: Ratcheting,
  ): void {
    const place = fieldPath === undefined ? path : path ? path.child(fieldPath) : new Path(fieldPath);
    const add = (error: FieldError): void => {
      if (!usesOldSelf && isUnchanged(ratcheting)) run.warn(String(error));
      else run.errors.push(error);
    };
    let detail: string | undefined;
    if (message) {
      const { value: text, cost } = message.evaluate(activation, perCallLimit);
      const overLimit = text instanceof CelError && text.message.startsWith(costLimitExceeded);
      if (overLimit || cost > run.budget) {
        const reason = overLimit
          ? `no further validation rules will be run due to call cost exceeds limit for messageExpression: ${JSON.stringify(rule.messageExpression)}`
          : 'messageExpression evaluation failed due to running out of cost budget, no further validation rules will be run';
        add(invalid(place, this.#type, reason));
        run.budget = -1;
        return;
      }
      run.budget -= cost;
      detail = usableMessage(text);
    }
    const isCompound = this.#type === 'object' || this.#type === 'array';
    add(errorFor(place, isCompound ? omitValue : value, detail ?? ruleMessage(rule), rule.reason));
  }
}

function hasRules({ props }: Structural): boolean {
  return schemaHas(props, (schema) => schema['x-kubernetes-validations'] !== undefined);
}

function end(run: Run, error: FieldError): void {
  run.errors.push(error);
  run.budget = -1;
}

/** Returns the result of the message expression if it is a single line. */
function usableMessage(value: Value): string | undefined {
  if (typeof value !== 'string') return undefined;
  const message = value.trim();
  const fits = message !== '' && !/[\n\r]/.test(message) && Buffer.byteLength(message) <= maxEvaluatedMessageExpressionSizeBytes;
  return fits ? message : undefined;
}

function shown({ rule = '', message = '' }: ValidationRule): string {
  return (message || rule).trim();
}

function ruleMessage(rule: ValidationRule): string {
  return rule.message ? rule.message.trim() : `failed rule: ${shown(rule)}`;
}

function failure({ message }: CelError, rule: ValidationRule): string {
  return message.startsWith('no such overload')
    ? `'${message}': call arguments did not match a supported operator, function or macro signature for rule: ${shown(rule)}`
    : `${message} evaluating rule: ${shown(rule)}`;
}

function errorFor(path: Path | undefined, value: unknown, detail: string, reason: string | undefined): FieldError {
  switch (reason) {
    case 'FieldValueForbidden':
      return forbidden(path, detail);
    case 'FieldValueRequired':
      return required(path, detail);
    case 'FieldValueDuplicate':
      return duplicate(path, value);
    default:
      return new Failure('FieldValueInvalid', path ? path.toString() : '<nil>', value, detail);
  }
}
