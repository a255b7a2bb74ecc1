import { itemsSchema, type JsonSchemaProps, schemaNumber } from '#apimachinery/structural/json-schema-props';
import { newStructural } from '#apimachinery/structural/structural';
import { addErrors, type FieldError, forbidden, internalError, invalid, type Path } from '#apimachinery/validation/field';
import { newExpressionsEnvironment, storedExpressionsEnvironment } from '#apiserver/cel/base-environment';
import { unbounded } from '#apiserver/cel/cost/estimate';
import { CelSchema, schemaDeclType } from '#apiserver/cel/schema';
import { internalRuleText } from '../apis/apiextensions/internal-form.ts';
import type { RuleContext, SchemaPlace } from '../apis/apiextensions/validation/open-api-schema.ts';
import { type CompiledRule, compileRules, type Environments } from './compilation.ts';

/** Maximum cost of one rule for all values of a request. */
const costLimit = 10_000_000;
/** Maximum cost of all rules of a schema. */
const totalCostLimit = 100_000_000;
const maxReportedRules = 4;
const advice = 'try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared';

/** Expressions of the stored definition, which may use features that new ones may not. */
export interface KnownExpressions {
  readonly rules: ReadonlySet<string>;
  readonly messages: ReadonlySet<string>;
}

export interface RuleContextOptions {
  readonly known: KnownExpressions;
  /** True if the schema is unchanged: the cost of single rules is not checked again. */
  readonly isUnchanged: boolean;
}

/** Sums the cost of all rules of a schema. */
class TotalCost {
  #total = 0;
  #mostExpensive: { readonly path: Path; readonly cost: number }[] = [];

  observe(path: Path, cost: number): void {
    this.#total = saturated(this.#total + cost);
    if (cost < totalCostLimit / 100) return;
    this.#mostExpensive = [...this.#mostExpensive, { path, cost }].sort((a, b) => b.cost - a.cost).slice(0, maxReportedRules);
  }

  errors(path: Path): FieldError[] {
    if (this.#total <= totalCostLimit) return [];
    const contributed = 'contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema';
    const what = 'x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema';
    return [
      ...this.#mostExpensive.map((expensive) => forbidden(expensive.path, contributed)),
      forbidden(path, costMessage(what, this.#total, totalCostLimit)),
    ];
  }
}

const saturated = (cost: number): number => Math.min(cost, unbounded);

/**
 * Compiles and validates the rules of a definition's schema. `cardinality` is the maximum number of values of a schema; undefined if its
 * parents do not bound it. Upstream: apiextensions/validation/cel_validation.go, validation.go.
 */
export class CelRuleContext implements RuleContext {
  private constructor(
    readonly schema: JsonSchemaProps,
    readonly cardinality: number | undefined,
    readonly isRoot: boolean,
    readonly total: TotalCost,
    readonly options: RuleContextOptions,
  ) {}

  static root(schema: JsonSchemaProps, options: RuleContextOptions): CelRuleContext {
    return new CelRuleContext(schema, 1, true, new TotalCost(), options);
  }

  /** Returns the errors about the total cost. It must be called after all rules were validated. `path` is that of the root. */
  totalErrors(path: Path): FieldError[] {
    return this.total.errors(path);
  }

  property(schema: JsonSchemaProps): CelRuleContext {
    return this.#child(schema);
  }
  additionalProperties(schema: JsonSchemaProps): CelRuleContext {
    return this.#child(schema);
  }
  items(schema: JsonSchemaProps): CelRuleContext {
    return this.#child(schema);
  }

  #child(schema: JsonSchemaProps): CelRuleContext {
    const most = maxElements(this.schema);
    const cardinality = this.cardinality === undefined || most === undefined ? undefined : saturated(this.cardinality * most);
    return new CelRuleContext(schema, cardinality, false, this.total, this.options);
  }

  validate(path: Path, schema: JsonSchemaProps, place: SchemaPlace): FieldError[] {
    const rulesPath = path.child('x-kubernetes-validations');
    const declType = schemaDeclType(new CelSchema(schema), this.isRoot || schema['x-kubernetes-embedded-resource'] === true);
    if (!declType) {
      const reason =
        'internal error: failed to construct type information for x-kubernetes-validations rules: unable to convert structural schema to CEL declarations';
      return [internalError(rulesPath, new Error(reason))];
    }
    const rules = schema['x-kubernetes-validations'] ?? [];
    const compiled = compileRules(rules, newStructural(schema), declType, this.#environments);
    return compiled.flatMap((rule, i) => this.#validateRule(rulesPath.index(i), rule, place));
  }

  readonly #environments: Environments = {
    rule: (text) => (this.options.known.rules.has(text) ? storedExpressionsEnvironment : newExpressionsEnvironment),
    message: (text) => (this.options.known.messages.has(text) ? storedExpressionsEnvironment : newExpressionsEnvironment),
  };

  #validateRule(path: Path, compiled: CompiledRule, { uncorrelatable }: SchemaPlace): FieldError[] {
    const { rule } = compiled;
    const errors = this.#cost(path.child('rule'), 'estimated rule cost', this.#costOf(compiled));
    if (compiled.error !== undefined) errors.push(invalid(path.child('rule'), internalRuleText(rule), compiled.error));
    if (compiled.messageError !== undefined)
      errors.push(invalid(path.child('messageExpression'), internalRuleText(rule), compiled.messageError));
    else if (compiled.message)
      addErrors(errors, this.#cost(path.child('messageExpression'), 'estimated messageExpression cost', compiled.messageMaxCost));
    if (compiled.usesOldSelf) {
      if (uncorrelatable) {
        const detail = `oldSelf cannot be used on the uncorrelatable portion of the schema within ${uncorrelatable.toString()}`;
        errors.push(invalid(path.child('rule'), rule.rule, detail));
      }
    } else if (rule.optionalOldSelf !== undefined) {
      errors.push(invalid(path.child('optionalOldSelf'), rule.optionalOldSelf, 'may not be set if oldSelf is not used in rule'));
    }
    return errors;
  }

  #costOf({ maxCost, maxCardinality }: CompiledRule): number {
    return saturated(maxCost * (this.cardinality ?? maxCardinality));
  }

  #cost(path: Path, name: string, cost: number): FieldError[] {
    this.total.observe(path, cost);
    return cost > costLimit && !this.options.isUnchanged ? [forbidden(path, costMessage(name, cost, costLimit))] : [];
  }
}

/** Returns the maximum number of values of a nested schema per value of its parent; undefined if it is unbounded. */
function maxElements(schema: JsonSchemaProps): number | undefined {
  switch (schema.type) {
    case 'object':
      if (schema.additionalProperties === undefined) return 1;
      return schema.maxProperties === undefined ? undefined : Math.max(schemaNumber(schema.maxProperties), 0);
    case 'array':
      return schema.maxItems === undefined || !itemsSchema(schema) ? undefined : Math.max(schemaNumber(schema.maxItems), 0);
    default:
      return 1;
  }
}

function costMessage(name: string, cost: number, limit: number): string {
  const factor = cost / limit;
  const shown = factor > 100 ? 'more than 100x' : `${factor.toFixed(factor < 1.5 ? 6 : 1)}x`;
  return `${name} exceeds budget by factor of ${shown} (${advice})`;
}
