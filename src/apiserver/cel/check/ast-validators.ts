/** Static checks of literals. Upstream: cel-go cel/validator.go, and the format validator of ext/formatting.go. */
import { checkFormat, FormatError } from '../library/text-format.ts';
import { compilePattern } from '../runtime/regex.ts';
import { CelError, type Value } from '../runtime/values.ts';
import { type Call, children, type Expr } from '../syntax/ast.ts';
import type { Issues } from '../syntax/source.ts';
import type { CheckedAst } from './checker.ts';
import { type CelType, dynType, isExactType } from './types.ts';

/** Reports invalid literals of durations, times, patterns and formats, and lists and maps of mixed types. */
export function validateAst(ast: CheckedAst, issues: Issues, convert: (name: string, value: Value) => Value): void {
  visit(ast.expr, false);

  function report(id: number, message: string): void {
    issues.report(message, ast.offsets.get(id));
  }

  function visit(expr: Expr, exempt: boolean): void {
    const { node } = expr;
    if (node.kind === 'call') checkCall(node, expr.id);
    if (!exempt && node.kind === 'list') {
      checkEqualTypes(
        node.elements.map((element, index) => ({ id: element.id, type: contentType(element, node.optionals.has(index)) })),
        true,
      );
    } else if (!exempt && node.kind === 'map') {
      checkEqualTypes(
        node.entries.map(({ key }) => ({ id: key.id, type: contentType(key, false) })),
        false,
      );
      checkEqualTypes(
        node.entries.map(({ value, optional }) => ({ id: value.id, type: contentType(value, optional) })),
        false,
      );
    }
    const inFormat = exempt || (node.kind === 'call' && node.function === 'format');
    for (const child of children(expr)) visit(child, inFormat);
  }

  function checkCall(call: Call, id: number): void {
    if (call.function === 'format') checkFormatCall(call, id);
    const { function: name, args } = call;
    const literal = args[0];
    if (literal?.node.kind !== 'literal') return;
    const { value } = literal.node;
    const wrong =
      name === 'matches'
        ? typeof value === 'string' && compilePattern(value) instanceof CelError
        : (name === 'duration' || name === 'timestamp') && convert(name, value) instanceof CelError;
    if (wrong) report(literal.id, `invalid ${name} argument`);
  }

  function checkFormatCall({ target, args: [list] }: Call, id: number): void {
    if (target?.node.kind !== 'literal' || list?.node.kind !== 'list') return;
    const { value } = target.node;
    if (typeof value !== 'string' || !ast.overloads.get(id)?.some((overload) => overload.id === 'string_format')) return;
    try {
      checkFormat(value, list.node.elements, (argument) => ast.types.get(argument.id) ?? dynType);
    } catch (error) {
      if (!(error instanceof FormatError)) throw error;
      report(error.argument?.id ?? id, error.message);
    }
  }

  function contentType({ id }: Expr, optional: boolean): CelType {
    const type = ast.types.get(id) ?? dynType;
    return optional ? (type.parameters[0] ?? dynType) : type;
  }

  function checkEqualTypes(items: readonly { id: number; type: CelType }[], firstOnly: boolean): void {
    const wrong = items.filter(({ type }) => !isExactType(items[0]!.type, type));
    for (const { id, type } of firstOnly ? wrong.slice(0, 1) : wrong) report(id, `expected type '${items[0]!.type}' but found '${type}'`);
  }
}
