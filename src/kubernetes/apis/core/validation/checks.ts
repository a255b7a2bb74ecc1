/** Rules that many fields of core objects share. Each adds what it finds to `errors`; paths are made only for what is wrong. */
import { memos } from '#apimachinery/runtime/memos';
import { addErrors, type FieldError, type Path, invalid, notSupported, required } from '#apimachinery/validation/field';
import { isDNS1123Label, isDNS1123Subdomain, isQualifiedName, isValidPortName, isValidPortNum } from '#apimachinery/validation/names';
import { isValidCIDRForLegacyField, isValidIPForLegacyField } from '#apimachinery/validation/ip';
import { Quantity } from '#apimachinery/api/quantity';

export const isNegative = 'must be greater than or equal to 0';
export const isNotPositive = 'must be greater than zero';
export const isNotInteger = 'must be an integer';
export const fieldIsImmutable = 'field is immutable';

/** The place of a field below `path`; a number stands for an index. */
function at(path: Path, field: string | number | undefined): Path {
  return field === undefined ? path : typeof field === 'number' ? path.index(field) : path.child(field);
}

/** Reports the messages of a rule of names (`isDNS1123Label(value)`). */
export function check(errors: FieldError[], wrong: readonly string[], value: unknown, path: Path, field?: string | number): void {
  if (wrong.length === 0) return;
  const place = at(path, field);
  for (const message of wrong) errors.push(invalid(place, value, message));
}

export function validateDNS1123Label(errors: FieldError[], value: string, path: Path, field?: string | number): void {
  check(errors, isDNS1123Label(value), value, path, field);
}

export function validateDNS1123Subdomain(errors: FieldError[], value: string, path: Path, field?: string | number): void {
  check(errors, isDNS1123Subdomain(value), value, path, field);
}

export function validateQualifiedName(errors: FieldError[], value: string, path: Path, field?: string | number): void {
  check(errors, isQualifiedName(value), value, path, field);
}

/** Whether a text is there; if not, says so. */
export function validateRequired(errors: FieldError[], value: string | undefined, path: Path, field: string, detail = ''): value is string {
  if (value) return true;
  errors.push(required(path.child(field), detail));
  return false;
}

/** Absent counts as 0. */
export function validateNonnegative(errors: FieldError[], value: number | undefined, path: Path, field?: string): void {
  if (value !== undefined && value < 0) errors.push(invalid(at(path, field), value, isNegative));
}

/** Absent counts as 0. */
export function validatePositive(errors: FieldError[], value: number | undefined, path: Path, field?: string): void {
  if ((value ?? 0) <= 0) errors.push(invalid(at(path, field), value ?? 0, isNotPositive));
}

export function validateRange(
  errors: FieldError[],
  value: number | undefined,
  low: number,
  high: number,
  path: Path,
  field: string,
  detail = `must be between ${low} and ${high}, inclusive`,
): void {
  if (value !== undefined && (value < low || value > high)) errors.push(invalid(path.child(field), value, detail));
}

/** `supported` in the order in which the message shows it. */
export function validateEnum(
  errors: FieldError[],
  value: string | undefined,
  supported: readonly string[],
  path: Path,
  field?: string,
): void {
  if (!supported.includes(value ?? '')) errors.push(notSupported(at(path, field), value ?? '', supported));
}

/** As `validateEnum`, but an empty value is a missing one. */
export function validateRequiredEnum(
  errors: FieldError[],
  value: string | undefined,
  supported: readonly string[],
  path: Path,
  field?: string,
): void {
  if (!value) errors.push(required(at(path, field)));
  else if (!supported.includes(value)) errors.push(notSupported(at(path, field), value, supported));
}

/** As `validateEnum`, for fields that may be absent, but not empty. */
export function validateOptionalEnum(
  errors: FieldError[],
  value: string | undefined,
  supported: readonly string[],
  path: Path,
  field?: string,
): void {
  if (value !== undefined) validateEnum(errors, value, supported, path, field);
}

export function validatePortNumOrName(errors: FieldError[], port: number | string | undefined, path: Path, field: string): void {
  if (typeof port === 'string') check(errors, isValidPortName(port), port, path, field);
  else check(errors, isValidPortNum(port ?? 0), port ?? 0, path, field);
}

/** An address in any form that was ever accepted if it is one of `oldValues`, else in today's. */
export function validateIP(errors: FieldError[], value: string | undefined, path: Path, oldValues?: ReadonlySet<string>): void {
  addErrors(errors, isValidIPForLegacyField(path, value ?? '', true, oldValues));
}

export function validateCIDR(errors: FieldError[], value: string, path: Path, oldValues?: ReadonlySet<string>): void {
  addErrors(errors, isValidCIDRForLegacyField(path, value, true, oldValues));
}

/** A quantity, and what is asked of it again and again. */
interface Amount {
  readonly quantity: Quantity;
  /** A double near the quantity. */
  readonly approximately: number;
  /** No thousandths are left when it is rounded up to them. */
  readonly isWhole: boolean;
}

/** Quantities that were parsed before: valid objects ask for the same few amounts. */
const amounts = new Map<string, Amount>();
const amountsLimit = 2048;

function amountOf(text: string): Amount {
  let amount = memos.amounts ? amounts.get(text) : undefined;
  if (amount === undefined) {
    const quantity = Quantity.parse(text);
    amount = { quantity, approximately: quantity.toNumber(), isWhole: quantity.milliValue() % 1000n === 0n };
    if (amounts.size >= amountsLimit) amounts.clear();
    if (text.length <= 32) amounts.set(text, amount);
  }
  return amount;
}

export function quantityOf(text: string): Quantity {
  return amountOf(text).quantity;
}

export function isWholeAmount(text: string): boolean {
  return amountOf(text).isWhole;
}

/** Negative, 0 or positive, as the first is less than, equal to or more than the second. Exact arithmetic only where doubles are too near each other. */
export function compareAmounts(first: string, second: string): number {
  if (first === second) return 0;
  const a = amountOf(first);
  const b = amountOf(second);
  const difference = a.approximately - b.approximately;
  const isClear = Math.abs(difference) > 1e-9 * Math.max(Math.abs(a.approximately), Math.abs(b.approximately));
  return isClear ? difference : a.quantity.compare(b.quantity);
}

/** In UTF-8, as Go counts. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
