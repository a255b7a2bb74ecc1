import type { Value } from '../runtime/values.ts';
import { accumulatorName, type Expr, type MapEntry, type Node } from './ast.ts';

/** Numbers the nodes of a tree and records their offsets. */
export class NodeFactory {
  readonly offsets = new Map<number, number>();
  #nextId = 1;

  /** Returns a new id for a node at an offset. */
  id(offset: number): number {
    const id = this.#nextId++;
    this.offsets.set(id, offset);
    return id;
  }

  make(offset: number, node: Node): Expr {
    return { id: this.id(offset), node };
  }
}

/** Wrong use of a macro at `offset`. */
export class MacroError extends Error {
  override readonly name = 'MacroError';

  constructor(
    message: string,
    readonly offset: number,
  ) {
    super(message);
  }
}

/** Creates the nodes of a macro expansion, all at the offset of the macro's call. */
export class MacroFactory {
  constructor(
    readonly nodes: NodeFactory,
    readonly offset: number,
  ) {}

  make(node: Node): Expr {
    return this.nodes.make(this.offset, node);
  }

  literal(value: Value): Expr {
    return this.make({ kind: 'literal', value });
  }

  ident(name: string): Expr {
    return this.make({ kind: 'ident', name });
  }

  accumulator(): Expr {
    return this.ident(accumulatorName);
  }

  call(name: string, ...args: Expr[]): Expr {
    return this.make({ kind: 'call', function: name, target: undefined, args });
  }

  memberCall(name: string, target: Expr, ...args: Expr[]): Expr {
    return this.make({ kind: 'call', function: name, target, args });
  }

  list(...elements: Expr[]): Expr {
    return this.make({ kind: 'list', elements, optionals: new Set() });
  }

  error(expr: Expr, message: string): MacroError {
    return new MacroError(message, this.nodes.offsets.get(expr.id) ?? this.offset);
  }

  /** Copies a tree with new ids, for a macro that uses an argument twice. */
  copy(expr: Expr): Expr {
    const id = this.nodes.id(this.nodes.offsets.get(expr.id) ?? this.offset);
    return { id, node: this.#copyNode(expr.node) };
  }

  #copyNode(node: Node): Node {
    const copy = (expr: Expr): Expr => this.copy(expr);
    switch (node.kind) {
      case 'select':
        return { ...node, operand: copy(node.operand) };
      case 'call': {
        const args = node.args.map(copy);
        return { ...node, args, target: node.target && copy(node.target) };
      }
      case 'list':
        return { ...node, elements: node.elements.map(copy) };
      case 'map':
        return {
          ...node,
          entries: node.entries.map(
            (entry): MapEntry => ({ ...entry, id: this.nodes.id(this.offset), key: copy(entry.key), value: copy(entry.value) }),
          ),
        };
      case 'struct':
        return { ...node, fields: node.fields.map((field) => ({ ...field, id: this.nodes.id(this.offset), value: copy(field.value) })) };
      case 'comprehension':
        return {
          ...node,
          iterRange: copy(node.iterRange),
          accuInit: copy(node.accuInit),
          loopCondition: copy(node.loopCondition),
          loopStep: copy(node.loopStep),
          result: copy(node.result),
        };
      default:
        return node;
    }
  }
}
