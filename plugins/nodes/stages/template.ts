import { limitWork, maxWork, spendWork, workOfText } from '../shell/work.ts';
import { type Expression, parseTemplate, TemplateError, type TemplateNode } from './template-parser.ts';
import { builtInFunctions, entriesOfObject, isTrue, textOf } from './template-functions.ts';

/** A function that templates can call. */
export type TemplateFunction = (...args: unknown[]) => unknown;
export type TemplateFunctions = Readonly<Record<string, TemplateFunction>>;

/** Compiles a template. The result renders it with data and further functions. Both throw TemplateError; the
 * result also throws if it exceeds `maxWork`. Upstream: Go's text/template. */
export function compileTemplate(text: string): (data: unknown, functions: TemplateFunctions) => string {
  const nodes = parseTemplate(text.trim());
  return (data, functions) => limitWork(maxWork, () => new Execution(data, functions).run(nodes));
}

class Execution {
  #output = '';
  /** Variables by scope, the innermost last. */
  readonly #scopes: Map<string, unknown>[];

  constructor(
    data: unknown,
    private readonly functions: TemplateFunctions,
  ) {
    this.#scopes = [new Map([['$', data]])];
    this.#dot = data;
  }

  #dot: unknown;

  run(nodes: readonly TemplateNode[]): string {
    this.#nodes(nodes);
    return this.#output;
  }

  #nodes(nodes: readonly TemplateNode[]): void {
    for (const node of nodes) this.#node(node);
  }

  #node(node: TemplateNode): void {
    spendWork(1);
    switch (node.type) {
      case 'text':
        return this.#write(node.text);
      case 'output':
        return this.#write(textOf(this.#value(node.value)));
      case 'assign':
        return this.#assign(node.name, node.declares, this.#value(node.value));
      case 'if':
      case 'with': {
        const value = this.#value(node.value);
        const chosen = isTrue(value) ? node.then : node.otherwise;
        return this.#within(node.type === 'with' && isTrue(value) ? value : this.#dot, () => this.#nodes(chosen));
      }
      case 'range':
        return this.#range(node);
    }
  }

  #write(text: string): void {
    spendWork(workOfText(text));
    this.#output += text;
  }

  /** Runs with another dot, in a scope of its own. */
  #within(dot: unknown, work: () => void, variables: readonly (readonly [string | undefined, unknown])[] = []): void {
    const outer = this.#dot;
    this.#dot = dot;
    this.#scopes.push(new Map(variables.flatMap(([name, value]) => (name === undefined ? [] : [[name, value] as const]))));
    work();
    this.#scopes.pop();
    this.#dot = outer;
  }

  #range({ value, key, item, then, otherwise }: Extract<TemplateNode, { type: 'range' }>): void {
    const items = entriesOf(this.#value(value));
    if (items.length === 0) return this.#within(this.#dot, () => this.#nodes(otherwise));
    for (const [name, one] of items) {
      spendWork(1);
      this.#within(one, () => this.#nodes(then), [
        [key, name],
        [item, one],
      ]);
    }
  }

  #assign(name: string, declares: boolean, value: unknown): void {
    const scope = declares ? this.#scopes.at(-1) : this.#scopes.findLast((one) => one.has(name));
    if (!scope) throw new TemplateError(`undefined variable ${name}`);
    scope.set(name, value);
  }

  #value(expression: Expression): unknown {
    spendWork(1);
    switch (expression.type) {
      case 'literal':
        return expression.value;
      case 'dot':
        return this.#dot;
      case 'variable': {
        const scope = this.#scopes.findLast((one) => one.has(expression.name));
        if (!scope) throw new TemplateError(`undefined variable ${expression.name}`);
        return scope.get(expression.name);
      }
      case 'field':
        return fieldOf(this.#value(expression.of), expression.name);
      case 'call':
        return this.#call(expression.name, expression.args);
    }
  }

  #call(name: string, args: readonly Expression[]): unknown {
    if (name === 'and' || name === 'or') return this.#shortCircuit(name, args);
    const own = Object.hasOwn(this.functions, name) ? this.functions[name] : undefined;
    const found = own ?? (Object.hasOwn(builtInFunctions, name) ? builtInFunctions[name] : undefined);
    if (!found) throw new TemplateError(`function ${name} is not supported`);
    return counted(found(...args.map((arg) => counted(this.#value(arg)))));
  }

  /** `and` and `or` return the argument that decides, and evaluate none after it. */
  #shortCircuit(name: 'and' | 'or', args: readonly Expression[]): unknown {
    let value: unknown;
    for (const arg of args) {
      value = this.#value(arg);
      if (isTrue(value) === (name === 'or')) return value;
    }
    return value;
  }
}

/** Counts the work for a text that a function takes or returns. */
function counted(value: unknown): unknown {
  if (typeof value === 'string') spendWork(workOfText(value));
  return value;
}

/** A missing field of an object, and any field of nothing, has no value. */
function fieldOf(value: unknown, name: string): unknown {
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'object') throw new TemplateError(`can't evaluate field ${name}`);
  return Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined;
}

/** Items to range over; those of an object in order of their keys. */
function entriesOf(value: unknown): readonly (readonly [unknown, unknown])[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.map((one: unknown, i) => [i, one]);
  if (typeof value === 'object') return entriesOfObject(value).sort(([a], [b]) => (a < b ? -1 : 1));
  throw new TemplateError(`range can't iterate over ${textOf(value)}`);
}
