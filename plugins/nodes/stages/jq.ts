import { limitWork, maxWork, spendWork, workOfText } from '../shell/work.ts';

/** A JSON value. */
export type Json = unknown;

/** Thrown for a query that this subset of jq does not have. */
export class JqSyntaxError extends Error {}
/** Thrown where jq reports an error, such as an index into a number. */
class JqError extends Error {}

type Filter = (input: Json) => Json[];

const maxOutputs = 10_000;
const maxLength = 4_096;

/**
 * Compiles a query of the subset of jq that stages use: paths (`.a.b`, `.["a"]`, `.[0]`, `.[]`, `?`), `|`, `,`, `//`, comparisons, `and`,
 * `or`, literals, parentheses, and the functions `select`, `not`, `length`, `keys`, `has`, `any`, `all`, `first`, `last`, `tostring`,
 * `startswith`, `endswith` and `contains`. The result returns the outputs that are not null; undefined after an error of jq; it throws if
 * the query exceeds `maxWork`. Throws JqSyntaxError. Upstream: kwok/pkg/utils/expression/query.go.
 */
export function compileJq(text: string): (input: Json) => Json[] | undefined {
  if (text.length > maxLength) throw new JqSyntaxError('the query is too long');
  const filter = new Parser(tokens(text)).parse();
  return (input) => {
    try {
      return limitWork(maxWork, () => filter(input)).filter((value) => value !== null && value !== undefined);
    } catch (error) {
      if (error instanceof JqError) return undefined;
      throw error;
    }
  };
}

const token = /\s*(?:("(?:[^"\\]|\\.)*")|(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\.\.|\/\/|==|!=|<=|>=|[.|,()[\]<>?]))/y;

function tokens(text: string): string[] {
  const found: string[] = [];
  const trimmed = text.trimEnd();
  token.lastIndex = 0;
  while (token.lastIndex < trimmed.length) {
    const at = token.lastIndex;
    const match = token.exec(trimmed);
    if (!match) throw new JqSyntaxError(`unexpected ${JSON.stringify(trimmed.slice(at, at + 10))}`);
    found.push(match[1] ?? match[2] ?? match[3] ?? (match[4] as string));
  }
  return found;
}

/** Parses by precedence: `|`, then `,`, `//`, `or`, `and`, comparisons, and paths. */
class Parser {
  #at = 0;
  #depth = 0;

  constructor(private readonly tokens: readonly string[]) {}

  parse(): Filter {
    const filter = this.#pipe();
    if (this.#at < this.tokens.length) throw new JqSyntaxError(`unexpected ${JSON.stringify(this.tokens[this.#at])}`);
    return filter;
  }

  #look(): string | undefined {
    return this.tokens[this.#at];
  }

  #takeIf(...wanted: string[]): string | undefined {
    const next = this.#look();
    if (next === undefined || !wanted.includes(next)) return undefined;
    this.#at += 1;
    return next;
  }

  #expect(wanted: string): void {
    if (!this.#takeIf(wanted)) throw new JqSyntaxError(`expected ${JSON.stringify(wanted)}`);
  }

  #pipe(): Filter {
    if ((this.#depth += 1) > 100) throw new JqSyntaxError('the query is nested too deeply');
    let left = this.#comma();
    while (this.#takeIf('|')) {
      const [first, second] = [left, this.#comma()];
      left = (input) => joined(first(input), second);
    }
    this.#depth -= 1;
    return left;
  }

  #comma(): Filter {
    let left = this.#alternative();
    while (this.#takeIf(',')) {
      const [first, second] = [left, this.#alternative()];
      left = (input) => limited([...first(input), ...second(input)]);
    }
    return left;
  }

  #alternative(): Filter {
    const left = this.#or();
    if (!this.#takeIf('//')) return left;
    const right = this.#alternative();
    return (input) => {
      const outputs = withoutErrors(left, input).filter(isTrue);
      return outputs.length > 0 ? outputs : right(input);
    };
  }

  #or(): Filter {
    let left = this.#and();
    while (this.#takeIf('or')) {
      const [first, second] = [left, this.#and()];
      left = (input) => joined(first(input), (value) => (isTrue(value) ? [true] : second(input).map(isTrue)));
    }
    return left;
  }

  #and(): Filter {
    let left = this.#comparison();
    while (this.#takeIf('and')) {
      const [first, second] = [left, this.#comparison()];
      left = (input) => joined(first(input), (value) => (isTrue(value) ? second(input).map(isTrue) : [false]));
    }
    return left;
  }

  #comparison(): Filter {
    const left = this.#postfix();
    const operator = this.#takeIf('==', '!=', '<', '<=', '>', '>=');
    if (!operator) return left;
    const right = this.#postfix();
    return (input) => joined(right(input), (b) => left(input).map((a) => compare(operator, a, b)));
  }

  #postfix(): Filter {
    let filter = this.#term();
    for (;;) {
      const next = this.#look();
      if (next === '?') {
        this.#at += 1;
        const tried = filter;
        filter = (input) => withoutErrors(tried, input);
      } else if (next === '[' || next === '.') {
        const [first, second] = [filter, this.#suffix()];
        filter = (input) => joined(first(input), second);
      } else {
        return filter;
      }
    }
  }

  /** `.name`, `."name"`, `[…]` or `.[…]`. */
  #suffix(): Filter {
    this.#takeIf('.');
    if (this.#takeIf('[')) {
      if (this.#takeIf(']')) return iterate;
      const key = this.#pipe();
      this.#expect(']');
      return (input) => key(input).map((value) => index(input, value));
    }
    const name = this.#look();
    if (name === undefined || !/^["A-Za-z_]/.test(name)) throw new JqSyntaxError('expected a name');
    this.#at += 1;
    const key = name.startsWith('"') ? stringOf(name) : name;
    return (input) => [index(input, key)];
  }

  #term(): Filter {
    const next = this.#look();
    if (next === undefined) throw new JqSyntaxError('unexpected end');
    if (next === '.') {
      const after = this.tokens[this.#at + 1];
      if (after !== undefined && (after === '[' || /^["A-Za-z_]/.test(after)) && !keywords.has(after)) return this.#suffix();
      this.#at += 1;
      return (input) => [input];
    }
    this.#at += 1;
    if (next === '(') {
      const inner = this.#pipe();
      this.#expect(')');
      return inner;
    }
    if (next.startsWith('"')) return constant(stringOf(next));
    if (/^-?\d/.test(next)) return constant(Number(next));
    if (Object.hasOwn(constants, next)) return constant(constants[next]);
    return this.#call(next);
  }

  #call(name: string): Filter {
    const args: Filter[] = [];
    if (this.#takeIf('(')) {
      args.push(this.#pipe());
      this.#expect(')');
    }
    const key = `${name}/${args.length}`;
    const make = Object.hasOwn(functions, key) ? functions[key] : undefined;
    if (!make) throw new JqSyntaxError(`function ${name} is not supported`);
    return make(args[0] ?? ((input) => [input]));
  }
}

const keywords = new Set(['and', 'or']);
const constants: Readonly<Record<string, Json>> = { true: true, false: false, null: null };
const constant =
  (value: Json): Filter =>
  () => [value];

function stringOf(quoted: string): string {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    throw new JqSyntaxError(`invalid string ${quoted}`);
  }
}

const isTrue = (value: Json): boolean => value !== null && value !== undefined && value !== false;
const isObject = (value: Json): value is Record<string, Json> => typeof value === 'object' && value !== null && !Array.isArray(value);

function limited(values: Json[]): Json[] {
  spendWork(1 + values.length);
  if (values.length > maxOutputs) throw new JqError('too many outputs');
  return values;
}

/** Returns all outputs of a filter for the values, one after the other. */
function joined(values: readonly Json[], filter: Filter): Json[] {
  const outputs: Json[] = [];
  for (const value of values) {
    const more = filter(value);
    if (outputs.length + more.length > maxOutputs) throw new JqError('too many outputs');
    spendWork(1 + more.length);
    for (const one of more) outputs.push(one);
  }
  return outputs;
}

function jsonOf(value: Json): string {
  const json = JSON.stringify(value ?? null);
  spendWork(workOfText(json));
  return json;
}

function withoutErrors(filter: Filter, input: Json): Json[] {
  try {
    return filter(input);
  } catch (error) {
    if (error instanceof JqError) return [];
    throw error;
  }
}

function iterate(input: Json): Json[] {
  if (Array.isArray(input)) return limited([...input]);
  if (isObject(input)) return limited(Object.values(input));
  throw new JqError('cannot iterate');
}

function index(input: Json, key: Json): Json {
  if (input === null || input === undefined) return null;
  if (Array.isArray(input) && typeof key === 'number') return input.at(Math.floor(key)) ?? null;
  if (isObject(input) && typeof key === 'string') return Object.hasOwn(input, key) ? input[key] : null;
  throw new JqError('cannot index');
}

function compare(operator: string, a: Json, b: Json): boolean {
  if (operator === '==' || operator === '!=') return (jsonOf(a) === jsonOf(b)) === (operator === '==');
  const comparable = (typeof a === 'number' && typeof b === 'number') || (typeof a === 'string' && typeof b === 'string');
  if (!comparable) throw new JqError('cannot compare');
  const [x, y] = [a as number, b as number];
  return operator === '<' ? x < y : operator === '<=' ? x <= y : operator === '>' ? x > y : x >= y;
}

function lengthOf(value: Json): number {
  if (value === null || value === undefined) return 0;
  if (typeof value === 'string') {
    spendWork(workOfText(value));
    return [...value].length;
  }
  if (typeof value === 'number') return Math.abs(value);
  if (Array.isArray(value)) return value.length;
  if (isObject(value)) return Object.keys(value).length;
  throw new JqError('has no length');
}

const text = (value: Json): string => {
  if (typeof value !== 'string') throw new JqError('is not a string');
  spendWork(workOfText(value));
  return value;
};
const list = (value: Json): Json[] => {
  if (!Array.isArray(value)) throw new JqError('is not an array');
  return value as Json[];
};
/** A function of the input and each output of its argument. */
const binary =
  (work: (input: Json, argument: Json) => Json) =>
  (argument: Filter): Filter =>
  (input) =>
    argument(input).map((value) => work(input, value));

/** Functions by name and number of arguments; a function without arguments ignores the filter. */
const functions: Readonly<Record<string, (argument: Filter) => Filter>> = {
  'select/1': (condition) => (input) => joined(condition(input), (value) => (isTrue(value) ? [input] : [])),
  'map/1': (each) => (input) => [joined(list(input), each)],
  'not/0': () => (input) => [!isTrue(input)],
  'length/0': () => (input) => [lengthOf(input)],
  'keys/0': () => (input) => {
    if (!isObject(input)) throw new JqError('has no keys');
    const keys = Object.keys(input).sort();
    spendWork(keys.length);
    return [keys];
  },
  'any/0': () => (input) => [list(input).some(isTrue)],
  'all/0': () => (input) => [list(input).every(isTrue)],
  'any/1': (condition) => (input) => [iterate(input).some((value) => condition(value).some(isTrue))],
  'all/1': (condition) => (input) => [iterate(input).every((value) => condition(value).every(isTrue))],
  'first/0': () => (input) => [list(input)[0] ?? null],
  'last/0': () => (input) => [list(input).at(-1) ?? null],
  'empty/0': () => () => [],
  'tostring/0': () => (input) => [typeof input === 'string' ? input : jsonOf(input)],
  'has/1': binary((input, key) => {
    if (isObject(input) && typeof key === 'string') return Object.hasOwn(input, key);
    return typeof key === 'number' && key < list(input).length;
  }),
  'startswith/1': binary((input, prefix) => text(input).startsWith(text(prefix))),
  'endswith/1': binary((input, suffix) => text(input).endsWith(text(suffix))),
  'contains/1': binary((input, part) =>
    Array.isArray(input) ? list(part).every((one) => list(input).some((own) => compare('==', own, one))) : text(input).includes(text(part)),
  ),
};
