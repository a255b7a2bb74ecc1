/**
 * Macros of the language and of the extension libraries. Upstream: cel-go parser/macro.go, cel/library.go,
 * ext/{bindings,comprehensions,lists}.go.
 */
import { accumulatorName, type Expr, legacyAccumulatorName, operators, unusedIterVar } from './ast.ts';
import type { MacroFactory } from './node-factory.ts';

/** A call that the parser expands. `expand` returns undefined if the call does not match the macro; it throws MacroError. */
export interface Macro {
  readonly name: string;
  readonly argCount: number;
  readonly receiver: boolean;
  expand(make: MacroFactory, target: Expr | undefined, args: readonly Expr[]): Expr | undefined;
}

function receiverMacro(
  name: string,
  argCount: number,
  expand: (make: MacroFactory, target: Expr, args: readonly Expr[]) => Expr | undefined,
): Macro {
  return { name, argCount, receiver: true, expand: (make, target, args) => expand(make, target!, args) };
}

function variableName(make: MacroFactory, arg: Expr, message: string): string {
  if (arg.node.kind !== 'ident') throw make.error(arg, message);
  return arg.node.name;
}

function iterationVariable(make: MacroFactory, arg: Expr, message: string): string {
  const name = variableName(make, arg, message);
  checkNoAccumulator(make, arg, name);
  return name;
}

function checkNoAccumulator(make: MacroFactory, arg: Expr, name: string): void {
  if (name === accumulatorName || name === legacyAccumulatorName)
    throw make.error(arg, 'iteration variable overwrites accumulator variable');
}

interface Loop {
  readonly init: Expr;
  readonly condition: Expr;
  readonly step: Expr;
  readonly result: Expr;
}

function comprehension(make: MacroFactory, range: Expr, iterVar: string, iterVar2: string | undefined, loop: Loop): Expr {
  return make.make({
    kind: 'comprehension',
    iterRange: range,
    iterVar,
    iterVar2,
    accuVar: accumulatorName,
    accuInit: loop.init,
    loopCondition: loop.condition,
    loopStep: loop.step,
    result: loop.result,
  });
}

/** Builds `name = init; body` as a comprehension over an empty list. */
function bind(make: MacroFactory, name: string, init: Expr, body: Expr): Expr {
  return make.make({
    kind: 'comprehension',
    iterRange: make.list(),
    iterVar: unusedIterVar,
    iterVar2: undefined,
    accuVar: name,
    accuInit: init,
    loopCondition: make.literal(false),
    loopStep: make.ident(name),
    result: body,
  });
}

type Quantifier = (make: MacroFactory, predicate: Expr) => Loop;

const all: Quantifier = (make, predicate) => ({
  init: make.literal(true),
  condition: make.call(operators.notStrictlyFalse, make.accumulator()),
  step: make.call(operators.logicalAnd, make.accumulator(), predicate),
  result: make.accumulator(),
});

const exists: Quantifier = (make, predicate) => ({
  init: make.literal(false),
  condition: make.call(operators.notStrictlyFalse, make.call(operators.logicalNot, make.accumulator())),
  step: make.call(operators.logicalOr, make.accumulator(), predicate),
  result: make.accumulator(),
});

const existsOne: Quantifier = (make, predicate) => ({
  init: make.literal(0),
  condition: make.literal(true),
  step: make.call(operators.conditional, predicate, make.call(operators.add, make.accumulator(), make.literal(1)), make.accumulator()),
  result: make.call(operators.equals, make.accumulator(), make.literal(1)),
});

function quantifierMacro(name: string, quantifier: Quantifier): Macro {
  return receiverMacro(name, 2, (make, target, [variable, predicate]) => {
    const name = iterationVariable(make, variable!, 'argument must be a simple name');
    return comprehension(make, target, name, undefined, quantifier(make, predicate!));
  });
}

/** Builds a loop that appends `step` for items that pass an optional `filter`. */
function collecting(make: MacroFactory, init: Expr, step: Expr, filter: Expr | undefined): Loop {
  return {
    init,
    condition: make.literal(true),
    step: filter ? make.call(operators.conditional, filter, step, make.accumulator()) : step,
    result: make.accumulator(),
  };
}

function expandMap(make: MacroFactory, target: Expr, args: readonly Expr[]): Expr {
  const name = iterationVariable(make, args[0]!, 'argument is not an identifier');
  const filter = args.length === 3 ? args[1] : undefined;
  const init = make.list();
  const step = make.call(operators.add, make.accumulator(), make.list(args.at(-1)!));
  return comprehension(make, target, name, undefined, collecting(make, init, step, filter));
}

function expandFilter(make: MacroFactory, target: Expr, [variable, filter]: readonly Expr[]): Expr {
  const name = iterationVariable(make, variable!, 'argument is not an identifier');
  const init = make.list();
  const step = make.call(operators.add, make.accumulator(), make.list(variable!));
  return comprehension(make, target, name, undefined, collecting(make, init, step, filter));
}

/** The macros has, all, exists, exists_one, map and filter. */
export const standardMacros: readonly Macro[] = [
  {
    name: 'has',
    argCount: 1,
    receiver: false,
    expand(make, _target, [arg]) {
      if (arg!.node.kind !== 'select') throw make.error(arg!, 'invalid argument to has() macro');
      return make.make({ kind: 'select', operand: arg!.node.operand, field: arg!.node.field, testOnly: true });
    },
  },
  quantifierMacro('all', all),
  quantifierMacro('exists', exists),
  quantifierMacro('exists_one', existsOne),
  receiverMacro('map', 2, expandMap),
  receiverMacro('map', 3, expandMap),
  receiverMacro('filter', 2, expandFilter),
];

function iterationVariables(make: MacroFactory, first: Expr, second: Expr): [string, string] {
  const names: [string, string] = [
    variableName(make, first, 'argument must be a simple name'),
    variableName(make, second, 'argument must be a simple name'),
  ];
  if (names[0] === names[1]) throw make.error(second, `duplicate variable name: ${names[0]}`);
  checkNoAccumulator(make, first, names[0]);
  checkNoAccumulator(make, second, names[1]);
  return names;
}

function twoVariableQuantifier(name: string, quantifier: Quantifier): Macro {
  return receiverMacro(name, 3, (make, target, [first, second, predicate]) => {
    const [iterVar, iterVar2] = iterationVariables(make, first!, second!);
    return comprehension(make, target, iterVar, iterVar2, quantifier(make, predicate!));
  });
}

type Transform = (make: MacroFactory, key: string, transform: Expr) => { init: Expr; step: Expr };

const toList: Transform = (make, _key, transform) => ({
  step: make.call(operators.add, make.accumulator(), make.list(transform)),
  init: make.list(),
});

const toMap: Transform = (make, key, transform) => ({
  step: make.call(mapInsert, make.accumulator(), make.ident(key), transform),
  init: make.make({ kind: 'map', entries: [] }),
});

const toMapEntry: Transform = (make, _key, transform) => ({
  step: make.call(mapInsert, make.accumulator(), transform),
  init: make.make({ kind: 'map', entries: [] }),
});

/** The function with which transformMap adds an entry. */
export const mapInsert = 'cel.@mapInsert';

function transformMacros(name: string, transform: Transform): Macro[] {
  const expand = (make: MacroFactory, target: Expr, args: readonly Expr[]): Expr => {
    const [iterVar, iterVar2] = iterationVariables(make, args[0]!, args[1]!);
    const { init, step } = transform(make, iterVar, args.at(-1)!);
    return comprehension(make, target, iterVar, iterVar2, collecting(make, init, step, args.length === 4 ? args[2] : undefined));
  };
  return [receiverMacro(name, 3, expand), receiverMacro(name, 4, expand)];
}

/** Macros with two variables: index and element of a list, key and value of a map. */
export const twoVariableMacros: readonly Macro[] = [
  twoVariableQuantifier('all', all),
  twoVariableQuantifier('exists', exists),
  twoVariableQuantifier('existsOne', existsOne),
  twoVariableQuantifier('exists_one', existsOne),
  ...transformMacros('transformList', toList),
  ...transformMacros('transformMap', toMap),
  ...transformMacros('transformMapEntry', toMapEntry),
];

/** The macro `cel.bind(name, init, body)`. */
export const bindingMacros: readonly Macro[] = [
  receiverMacro('bind', 3, (make, target, [variable, init, body]) => {
    if (target.node.kind !== 'ident' || target.node.name !== 'cel') return undefined;
    const name = variableName(make, variable!, 'cel.bind() variable names must be simple identifiers');
    return bind(make, name, init!, body!);
  }),
];

function optionalMacro(macro: string, wrap: (make: MacroFactory, body: Expr) => Expr): Macro {
  return receiverMacro(macro, 2, (make, target, [variable, body]) => {
    const name = variableName(make, variable!, `${macro}() variable name must be a simple identifier`);
    return make.call(
      operators.conditional,
      make.memberCall('hasValue', target),
      wrap(make, bind(make, name, make.memberCall('value', make.copy(target)), body!)),
      make.call('optional.none'),
    );
  });
}

/** The macros optMap and optFlatMap. */
export const optionalMacros: readonly Macro[] = [
  optionalMacro('optMap', (make, body) => make.call('optional.of', body)),
  optionalMacro('optFlatMap', (_make, body) => body),
];

const sortByInput = '@__sortBy_input__';

/** The macro `list.sortBy(x, key)`. */
export const listMacros: readonly Macro[] = [
  receiverMacro('sortBy', 2, (make, target, args) => {
    if (!['list', 'select', 'ident', 'comprehension', 'call'].includes(target.node.kind)) {
      throw make.error(target, 'sortBy can only be applied to a list, identifier, comprehension, call or select expression');
    }
    const keys = expandMap(make, make.ident(sortByInput), args);
    return bind(make, sortByInput, target, make.memberCall('@sortByAssociatedKeys', make.ident(sortByInput), keys));
  }),
];
