/** Checks that many fields of core objects share. Each appends to `errors`; paths are built only for errors. */
import type { ServerTraits } from '#apiserver/registry/resource-definition';
import { validatesStrictAddresses } from '#kubernetes/apis/core/capabilities';
import { memos } from '#apimachinery/runtime/memos';
import { addErrors, type FieldError, type Path, invalid, notSupported, required } from '#apimachinery/validation/field';
import { isDNS1123Label, isDNS1123Subdomain, isQualifiedName, isValidPortName, isValidPortNum } from '#apimachinery/validation/names';
import { isValidCIDRForLegacyField, isValidIPForLegacyField } from '#apimachinery/validation/ip';
import { Quantity } from '#apimachinery/api/quantity';

export const isNegative = 'must be greater than or equal to 0';
export const isNotPositive = 'must be greater than zero';
export const isNotInteger = 'must be an integer';
export const fieldIsImmutable = 'field is immutable';

/** Returns the path of a field below `path`; a number is an index. */
function at(path: Path, field: string | number | undefined): Path {
  return field === undefined ? path : typeof field === 'number' ? path.index(field) : path.child(field);
}

/** Adds the messages of a name rule (`isDNS1123Label(value)`). */
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

/** Requires a non-empty string; returns true if it is present. */
export function validateRequired(errors: FieldError[], value: string | undefined, path: Path, field: string, detail = ''): value is string {
  if (value) return true;
  errors.push(required(path.child(field), detail));
  return false;
}

/** Requires a value of at least 0; an absent value counts as 0. */
export function validateNonnegative(errors: FieldError[], value: number | undefined, path: Path, field?: string): void {
  if (value !== undefined && value < 0) errors.push(invalid(at(path, field), value, isNegative));
}

/** Requires a value above 0; an absent value counts as 0. */
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

/** Requires one of the `supported` values, listed in the order of the message. */
export function validateEnum(
  errors: FieldError[],
  value: string | undefined,
  supported: readonly string[],
  path: Path,
  field?: string,
): void {
  if (!supported.includes(value ?? '')) errors.push(notSupported(at(path, field), value ?? '', supported));
}

/** Like `validateEnum`, but reports an empty value as missing. */
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

/** Like `validateEnum`, for fields that may be absent but not empty. */
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

/**
 * Validates an address. `oldValues` may have any format that was ever accepted, others only the current one, unless the gate
 * StrictIPCIDRValidation of `server` is off.
 */
export function validateIP(
  errors: FieldError[],
  value: string | undefined,
  path: Path,
  server: ServerTraits,
  oldValues?: ReadonlySet<string>,
): void {
  addErrors(errors, isValidIPForLegacyField(path, value ?? '', validatesStrictAddresses(server), oldValues));
}

/** Validates a CIDR by the rules of `validateIP`. */
export function validateCIDR(errors: FieldError[], value: string, path: Path, server: ServerTraits, oldValues?: ReadonlySet<string>): void {
  addErrors(errors, isValidCIDRForLegacyField(path, value, validatesStrictAddresses(server), oldValues));
}

/** A parsed quantity with derived values that are used repeatedly. */
interface Amount {
  readonly quantity: Quantity;
  /** The nearest double. */
  readonly approximately: number;
  /** True for a multiple of one after rounding up to thousandths. */
  readonly isWhole: boolean;
}

/** Cache of parsed quantities: valid objects use the same few amounts. */
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

/** Compares two quantities: negative, 0 or positive. Exact arithmetic is used only if the doubles are too close. */
export function compareAmounts(first: string, second: string): number {
  if (first === second) return 0;
  const a = amountOf(first);
  const b = amountOf(second);
  const difference = a.approximately - b.approximately;
  const isClear = Math.abs(difference) > 1e-9 * Math.max(Math.abs(a.approximately), Math.abs(b.approximately));
  return isClear ? difference : a.quantity.compare(b.quantity);
}

/** Returns the length in UTF-8 bytes, as Go counts. */
export function byteLength(text: string): number {
  return Buffer.byteLength(text);
}
