/** Decoding of large documents: long lists and wide maps are decoded slice by slice before the document, which adopts the results. */
import { type Decoded, decodeEntries, decodeItems, type DecodeOptions, decodeRoot, isObject, newDecoding } from './decode.ts';
import { type Decoding, MapKey, type PathStep } from './decoding.ts';
import { isContainer } from './numbers.ts';
import type { StructType } from './schema.ts';
import type { Steps } from './steps.ts';
import { Code, maxStructDepth, type StructPlan, type ValuePlan } from './struct-plan.ts';
import { keysOf } from './wide-objects.ts';

type Json = Record<string, unknown>;

/** Like `decode`, but yields to the event loop after each `sliceValues` values. The value must not change meanwhile. */
export function* decodeSteps<T = Json>(
  type: StructType,
  value: unknown,
  options: DecodeOptions = {},
  sliceValues = 1_024,
): Steps<Decoded<T>> {
  const parts = new Map<object, Decoding>();
  const decoding = newDecoding(type, options, parts);
  if (isObject(value)) yield* new PartDecoder(decoding, parts, sliceValues).decodeIn(value);
  return decodeRoot(type, value, decoding);
}

/** A container whose items are being visited. */
interface Visit {
  readonly container: object;
  /** The plan of a list or map; undefined for a struct. */
  readonly plan: ValuePlan | undefined;
  /** The struct that the container is, or is in. */
  readonly owner: StructPlan;
  /** The keys of a struct or map; undefined for a list. */
  readonly keys: readonly string[] | undefined;
  readonly length: number;
  visited: number;
  decoded: number;
  /** Number of values in the visited items that are not decoded yet. */
  pending: number;
}

/**
 * Decodes long lists and wide maps, the innermost first. Many short ones in each other are as long as one. Without recursion, since
 * generators would overflow the stack at depths that decoding accepts.
 */
class PartDecoder {
  readonly #decoding: Decoding;
  readonly #parts: Map<object, Decoding>;
  readonly #sliceValues: number;
  /** The container that is visited and those around it, outermost first. */
  readonly #open: Visit[] = [];
  /** The path of the container that is visited. */
  readonly #at: PathStep[] = [];
  #depth = 0;

  constructor(decoding: Decoding, parts: Map<object, Decoding>, sliceValues: number) {
    this.#decoding = decoding;
    this.#parts = parts;
    this.#sliceValues = sliceValues;
  }

  *decodeIn(root: Json): Steps<void> {
    this.#enter(undefined, root, this.#decoding.root);
    for (let visit = this.#open.at(-1); visit; visit = this.#open.at(-1)) {
      let pending = 0;
      if (visit.visited === visit.length) {
        pending = this.#leave(visit);
        visit = this.#open.at(-1);
      } else if (this.#enterNext(visit)) continue;
      if (visit && this.#add(visit, pending)) yield;
    }
  }

  /** Enters the next item; false if it has no parts. */
  #enterNext({ container, plan, owner, keys, visited }: Visit): boolean {
    const step = keys ? keys[visited]! : visited;
    const item = (container as Json)[step];
    if (!isContainer(item) || this.#parts.has(item)) return false;
    const itemPlan = plan ? plan.items() : owner.byName.get(step as string)?.value;
    if (!itemPlan || !this.#enterValue(itemPlan, item, owner)) return false;
    this.#at.push(plan && keys ? new MapKey(step as string) : step);
    return true;
  }

  #enterValue(plan: ValuePlan, value: object, owner: StructPlan): boolean {
    if (Array.isArray(value)) return plan.code === Code.List && this.#enter(plan, value, owner);
    if (plan.code === Code.Struct) return this.#enter(undefined, value, plan.struct());
    return (plan.code === Code.Map || plan.code === Code.StringMap) && this.#enter(plan, value, owner);
  }

  #enter(plan: ValuePlan | undefined, container: object, owner: StructPlan): boolean {
    // Decoding fails at the maximum depth.
    if (!plan && this.#depth === maxStructDepth) return false;
    if (!plan) this.#depth += 1;
    const keys = Array.isArray(container) ? undefined : keysOf(container);
    const { length } = keys ?? (container as unknown[]);
    this.#open.push({ container, plan, owner, keys, length, visited: 0, decoded: 0, pending: 0 });
    return true;
  }

  /** Adds the next item, in which so many values are not decoded yet. Returns true if a slice was decoded. */
  #add(visit: Visit, pending: number): boolean {
    visit.visited += 1;
    visit.pending += 1 + pending;
    return visit.plan !== undefined && visit.pending >= this.#sliceValues && this.#decodeSlice(visit, visit.plan);
  }

  /** Leaves a container. Returns the number of its values that are to be decoded with the container around it. */
  #leave(visit: Visit): number {
    if (visit.plan && visit.decoded > 0) this.#decodeSlice(visit, visit.plan);
    if (!visit.plan) this.#depth -= 1;
    this.#open.pop();
    this.#at.pop();
    return visit.pending;
  }

  #decodeSlice(visit: Visit, plan: ValuePlan): true {
    const { container, owner, keys, decoded, visited } = visit;
    const part = this.#parts.get(container) ?? this.#decoding.part(this.#at, this.#depth);
    this.#parts.set(container, part);
    part.attempt(() => {
      if (keys) decodeEntries(plan, container as Json, keys.slice(decoded, visited), part, owner);
      else decodeItems(plan, container as unknown[], decoded, visited, part, owner);
    });
    visit.decoded = visited;
    visit.pending = 0;
    return true;
  }
}
