/** Selectors of devices: their environment and evaluation. Upstream: k8s.io/dynamic-resource-allocation/cel/compile.go. */
import { Quantity } from '#apimachinery/api/quantity';
import { newExpressionsEnvironment, storedExpressionsEnvironment } from './base-environment.ts';
import { anyType, boolType, isExactType, structType } from './check/types.ts';
import { sizesOf } from './cost/estimate.ts';
import { boolDecl, collectObjects, type DeclType, mapDecl, objectOf, simpleDecl, stringDecl } from './decl-type.ts';
import { activationOf, type Environment, type Expression, PlanError, type Program } from './environment.ts';
import { fromJson } from './json-values.ts';
import { QuantityValue } from './library/quantity.ts';
import { parseSemver } from './library/semver.ts';
import { CelError, CelMap, isCelObject, typeOf, type Value, ValueMap } from './runtime/values.ts';
import { Issues } from './syntax/source.ts';

/** Limit for the attributes and capacities of a device together. */
const maxEntries = 32;
/** Limit for the cost of an expression, estimated and at run time. Upstream: CELSelectorExpressionMaxCost. */
export const maxDeviceSelectorCost = 1_000_000;

const domain = { ...stringDecl, maxElements: 63 };
const identifier = { ...stringDecl, maxElements: 32 };
const byDomain = (value: DeclType) => mapDecl(domain, mapDecl(identifier, value, maxEntries), maxEntries);
const deviceDecl = objectOf('kubernetes.DRADevice', {
  driver: domain,
  attributes: byDomain(simpleDecl('any', anyType, 1, 64)),
  capacity: byDomain(simpleDecl('quantity', structType('kubernetes.Quantity'), 4)),
  allowMultipleAllocations: boolDecl,
});

/** Size bounds of the variable `device`, for cost estimates. */
export const deviceSizes = sizesOf({ device: deviceDecl });

/** Returns a function that creates the environment on first use. */
function environmentOn(base: Environment): () => Environment {
  let made: Environment | undefined;
  return () => (made ??= base.extend({ variables: { device: deviceDecl.celType }, declTypes: [...collectObjects(deviceDecl).values()] }));
}
const forNew = environmentOn(newExpressionsEnvironment);
const forStored = environmentOn(storedExpressionsEnvironment);

/** A compiled selector. */
export interface CompiledSelector {
  readonly expression: Expression;
  readonly program: Program;
}

/** Compiles a selector, or returns why it is invalid. A `stored` one may use the functions that newer servers support. */
export function compileDeviceSelector(text: string, stored: boolean): CompiledSelector | string {
  const expression = (stored ? forStored : forNew)().compile(text);
  if (expression instanceof Issues) return `compilation failed: ${String(expression)}`;
  if (![boolType, anyType].some((type) => isExactType(type, expression.outputType)))
    return `must evaluate to bool or the unknown type, not ${String(expression.outputType)}`;
  try {
    return { expression, program: expression.program() };
  } catch (error) {
    if (!(error instanceof PlanError)) throw error;
    return `program instantiation failed: ${error.message}`;
  }
}

/** An attribute of a device: exactly one member is set. */
export interface AttributeSource {
  readonly int?: number;
  readonly bool?: boolean;
  readonly string?: string;
  readonly version?: string;
}

/** A device as selectors see it. Names without a domain are in that of the driver. */
export interface DeviceSource {
  readonly driver: string;
  readonly attributes?: Readonly<Record<string, AttributeSource>>;
  readonly capacity?: Readonly<Record<string, { readonly value?: string }>>;
  readonly allowMultipleAllocations?: boolean;
}

/** The value of the variable `device`. */
export type DeviceValue = CelMap;

/** Returns the value of the variable `device`, or the text of an error. */
export function deviceValue(source: DeviceSource): DeviceValue | string {
  const attributes = new Map<string, [string, Value][]>();
  for (const [name, attribute] of Object.entries(source.attributes ?? {})) {
    const value = attributeValue(attribute);
    if (typeof value === 'object' && value instanceof CelError) return `attribute ${name}: ${value.message}`;
    addTo(attributes, name, source.driver, value);
  }
  const capacity = new Map<string, [string, Value][]>();
  for (const [name, { value = '0' }] of Object.entries(source.capacity ?? {}))
    addTo(capacity, name, source.driver, new QuantityValue(Quantity.parse(value)));
  return ValueMap.of([
    ['driver', source.driver],
    ['allowMultipleAllocations', source.allowMultipleAllocations ?? false],
    ['attributes', new DomainMap(attributes)],
    ['capacity', new DomainMap(capacity)],
  ]);
}

function attributeValue({ int, bool, string, version }: AttributeSource): Value {
  if (int !== undefined) return fromJson(int);
  if (bool !== undefined) return bool;
  if (string !== undefined) return string;
  if (version === undefined) return new CelError('unsupported attribute value');
  const parsed = parseSemver(version);
  return parsed instanceof CelError ? new CelError(`parse semantic version: ${parsed.message}`) : parsed;
}

function addTo(map: Map<string, [string, Value][]>, name: string, driver: string, value: Value): void {
  const slash = name.indexOf('/');
  const key = slash === -1 ? driver : name.slice(0, slash);
  const entries = map.get(key) ?? [];
  entries.push([name.slice(slash + 1), value]);
  map.set(key, entries);
}

const empty = ValueMap.of([]);

/** Maps by domain. An unknown domain has an empty map, so that selectors need not test for it. */
class DomainMap extends CelMap {
  readonly #domains: ReadonlyMap<string, ValueMap>;

  constructor(domains: ReadonlyMap<string, readonly [string, Value][]>) {
    super();
    this.#domains = new Map([...domains].map(([name, entries]) => [name, ValueMap.of(entries)]));
  }

  get size(): number {
    return this.#domains.size;
  }

  find(key: Value): Value {
    return (typeof key === 'string' ? this.#domains.get(key) : undefined) ?? empty;
  }

  keys(): Iterable<Value> {
    return this.#domains.keys();
  }
}

/** Evaluates a selector for the value of a device. Returns the text of an error if it fails. */
export function deviceMatches({ program }: CompiledSelector, device: DeviceValue): boolean | string {
  const { value } = program.evaluate(activationOf({ device }), maxDeviceSelectorCost);
  if (typeof value === 'boolean') return value;
  if (value !== null && typeof value === 'object' && value instanceof CelError) return value.message;
  const type = value !== null && isCelObject(value) ? value.celType.name : typeOf(value).name;
  return `CEL result of type ${type} could not be converted to bool: type conversion error from '${type}' to 'bool'`;
}
