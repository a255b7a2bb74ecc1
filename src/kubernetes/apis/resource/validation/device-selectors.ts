/** Validation of device selectors. Upstream: pkg/apis/resource/validation/validation.go, dynamic-resource-allocation/cel/compile.go. */
import { newExpressionsEnvironment, storedExpressionsEnvironment } from '#apiserver/cel/base-environment';
import { sizesOf } from '#apiserver/cel/cost/estimate';
import { anyType, boolType, isExactType, structType } from '#apiserver/cel/check/types';
import { type DeclType, boolDecl, collectObjects, mapDecl, objectOf, simpleDecl, stringDecl } from '#apiserver/cel/decl-type';
import { type Environment, PlanError } from '#apiserver/cel/environment';

import { Issues } from '#apiserver/cel/syntax/source';
import { type FieldError, forbidden, invalid, type Path, required, tooLong } from '#apimachinery/validation/field';
import { byteLength } from '#kubernetes/apis/core/validation/checks';
import type { DeviceSelector } from '#kubernetes/schema/resource_v1.gen';
import { validateItems } from './device-names.ts';

const maxSelectors = 32;
const maxExpressionBytes = 10 * 1024;
const maxCost = 1_000_000;
/** Limit for the attributes and capacities of a device together. */
const maxEntries = 32;

const domain = { ...stringDecl, maxElements: 63 };
const identifier = { ...stringDecl, maxElements: 32 };
const byDomain = (value: DeclType) => mapDecl(domain, mapDecl(identifier, value, maxEntries), maxEntries);
const device = objectOf('kubernetes.DRADevice', {
  driver: domain,
  attributes: byDomain(simpleDecl('any', anyType, 1, 64)),
  capacity: byDomain(simpleDecl('quantity', structType('kubernetes.Quantity'), 4)),
  allowMultipleAllocations: boolDecl,
});
const sizes = sizesOf({ device });

/** Returns a function that creates the environment on first use. */
function environmentOn(base: Environment): () => Environment {
  let made: Environment | undefined;
  return () => (made ??= base.extend({ variables: { device: device.celType }, declTypes: [...collectObjects(device).values()] }));
}
const forNew = environmentOn(newExpressionsEnvironment);
const forStored = environmentOn(storedExpressionsEnvironment);

/** Validates selectors; `stored` ones may use the expressions that newer servers support. */
export function validateDeviceSelectors(
  errors: FieldError[],
  selectors: readonly DeviceSelector[] | undefined,
  path: Path,
  stored = false,
): void {
  validateItems(errors, selectors, maxSelectors, path, (_, { cel }, place) => {
    if (cel) validateExpression(errors, cel.expression ?? '', place.child('cel', 'expression'), stored);
    else errors.push(required(place.child('cel')));
  });
}

function validateExpression(errors: FieldError[], text: string, path: Path, stored: boolean): void {
  if (byteLength(text) > maxExpressionBytes) {
    errors.push(tooLong(path, '', maxExpressionBytes));
    return;
  }
  const expression = (stored ? forStored : forNew)().compile(text);
  if (expression instanceof Issues) {
    errors.push(invalid(path, text, `compilation failed: ${String(expression)}`));
    return;
  }
  if (![boolType, anyType].some((type) => isExactType(type, expression.outputType))) {
    errors.push(invalid(path, text, `must evaluate to bool or the unknown type, not ${String(expression.outputType)}`));
    return;
  }
  try {
    expression.program();
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    errors.push(invalid(path, text, `program instantiation failed: ${error.message}`));
    return;
  }
  if (expression.estimateCost(sizes).max > maxCost) errors.push(forbidden(path, 'too complex, exceeds cost limit'));
}
