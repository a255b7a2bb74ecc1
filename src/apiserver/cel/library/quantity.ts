/** Resource quantities. Upstream: apiserver/pkg/cel/library/quantity.go. */
import { Quantity, QuantityParseError } from '#apimachinery/api/quantity';
import { func, type FunctionDeclaration, global, member } from '../check/declarations.ts';
import { boolType, doubleType, intType, stringType, structType } from '../check/types.ts';
import type { Library } from '../environment.ts';
import { CelError, type CelObject, Double, type Int, intValue, noSuchOverload, type Value } from '../runtime/values.ts';

const quantityType = structType('kubernetes.Quantity');

/** A quantity as a value. */
export class QuantityValue implements CelObject {
  readonly celType = quantityType;

  constructor(readonly quantity: Quantity) {}

  get text(): string {
    return this.quantity.toString();
  }

  equals(other: Value): Value {
    return other instanceof QuantityValue ? this.quantity.equals(other.quantity) : noSuchOverload();
  }
}

/** Maximum length of a quantity, which bounds the cost of big-number parsing. */
const maxLength = 1000;

function parse(text: string): QuantityValue | CelError {
  try {
    if (text.length > maxLength) throw new QuantityParseError('quantity is too long');
    return new QuantityValue(Quantity.parse(text));
  } catch (error) {
    if (error instanceof QuantityParseError) return new CelError(error.message);
    throw error;
  }
}

function asInteger({ quantity }: QuantityValue): Int | undefined {
  return quantity.isInteger() ? intValue(quantity.value()) : undefined;
}

function compare(a: QuantityValue, b: QuantityValue): number {
  return a.quantity.compare(b.quantity);
}

function ofInt(value: Int): Quantity {
  return Quantity.fromInteger(value, 'DecimalExponent');
}

const two = [quantityType, quantityType];
const withInt = [quantityType, intType];

const functions: readonly FunctionDeclaration[] = [
  func('quantity', global('string_to_quantity', [stringType], quantityType, parse)),
  func(
    'isQuantity',
    global('is_quantity_string', [stringType], boolType, (text: string) => !(parse(text) instanceof CelError)),
  ),
  func(
    'sign',
    global('quantity_sign', [quantityType], intType, ({ quantity }: QuantityValue) => quantity.sign),
  ),
  func(
    'isGreaterThan',
    member('quantity_is_greater_than', two, boolType, (a: QuantityValue, b: QuantityValue) => compare(a, b) > 0),
  ),
  func(
    'isLessThan',
    member('quantity_is_less_than', two, boolType, (a: QuantityValue, b: QuantityValue) => compare(a, b) < 0),
  ),
  func('compareTo', member('quantity_compare_to', two, intType, compare)),
  func(
    'asApproximateFloat',
    member('quantity_get_float', [quantityType], doubleType, ({ quantity }: QuantityValue) => new Double(quantity.toNumber())),
  ),
  func(
    'asInteger',
    member(
      'quantity_get_int',
      [quantityType],
      intType,
      (value: QuantityValue) => asInteger(value) ?? new CelError('cannot convert value to integer'),
    ),
  ),
  func(
    'isInteger',
    member('quantity_is_integer', [quantityType], boolType, (value: QuantityValue) => asInteger(value) !== undefined),
  ),
  func(
    'add',
    member('quantity_add', two, quantityType, (a: QuantityValue, b: QuantityValue) => new QuantityValue(a.quantity.add(b.quantity))),
    member('quantity_add_int', withInt, quantityType, (a: QuantityValue, b: Int) => new QuantityValue(a.quantity.add(ofInt(b)))),
  ),
  func(
    'sub',
    member('quantity_sub', two, quantityType, (a: QuantityValue, b: QuantityValue) => new QuantityValue(a.quantity.sub(b.quantity))),
    member('quantity_sub_int', withInt, quantityType, (a: QuantityValue, b: Int) => new QuantityValue(a.quantity.sub(ofInt(b)))),
  ),
];

export const quantityLibrary: Library = { functions, types: [quantityType] };
