/** Scans a JSON text for what JSON.parse does not report: depth, duplicate keys, and numbers that Go reads differently. */
import { isLongInteger, isOddLiteral } from '../numbers.ts';

/** Maximum depth of objects and lists; upstream: maxNestingDepth. */
export const maxNestingDepth = 10_000;

/** Upstream keeps this number of strict errors and drops the rest. */
const maxReported = 100;

/** Maximum number of repeated keys that are merged; more do not occur by mistake. */
const maxRepeatedKeys = 1_000;

export const quoteMark = 0x22;
export const backslash = 0x5c;

/** From this number on, an object's keys are in a Set instead of being compared one by one. */
const setFrom = 12;

/** RFC 8259, section 6. */
const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][-+]?\d+)?$/;

/** Stack of open containers. The keys of an open object are in keyStart, keyEnd and keyHash from its base on; a list's base is -1. */
class OpenContainers {
  readonly bases = new Int32Array(maxNestingDepth + 2);
  /** For an object the position of its current key, for a list the index of its current item. */
  readonly indexes = new Int32Array(maxNestingDepth + 2);
  readonly keySets: (Set<string> | undefined)[] = [];
  keyStart = new Int32Array(256);
  keyEnd = new Int32Array(256);
  keyHash = new Int32Array(256);

  growKeys(size: number): void {
    const grow = (from: Int32Array): Int32Array<ArrayBuffer> => {
      const to = new Int32Array(size);
      to.set(from.subarray(0, size));
      return to;
    };
    this.keyStart = grow(this.keyStart);
    this.keyEnd = grow(this.keyEnd);
    this.keyHash = grow(this.keyHash);
  }

  /** Resets the state for the next scan. */
  clear(): void {
    if (this.keySets.length > 0) this.keySets.length = 0;
    if (this.keyStart.length <= 65_536) return;
    this.keyStart = new Int32Array(256);
    this.keyEnd = new Int32Array(256);
    this.keyHash = new Int32Array(256);
  }
}

/** Reused by synchronous scans, which never call other code and keep nothing afterwards. */
const reused = new OpenContainers();

/** A scan of a text with its findings so far. */
export class JsonScan {
  readonly bytes: Buffer;
  private readonly open: OpenContainers;
  ascii = true;
  /** True if an escape may be a lone surrogate. */
  surrogates = false;
  tooDeep = false;
  duplicates: string[] | undefined = undefined;
  /** Byte offsets of repeated keys. */
  repeatedKeys: number[] | undefined = undefined;
  overflow: string | undefined = undefined;
  /** True if a number becomes a Float64. */
  hasFloats = false;
  /** Start and end of every number that JSON.parse would change: see `numberOf`. */
  readonly oddNumbers: number[] = [];
  /** Offset of the next byte. */
  at = 0;
  /** Number of open containers at `at`. */
  depth = 0;
  /** Minimum number of open containers since the last `next` started. */
  lowest = 0;
  /** Number of repeated keys so far. */
  #repeated = 0;
  #allBytes = 0;
  #keys = 0;
  #openSets = 0;
  #expectsKey = false;

  private constructor(bytes: Buffer, open: OpenContainers) {
    this.bytes = bytes;
    this.open = open;
  }

  /** Scans a whole text. On malformed text it stops early: JSON.parse rejects that text. */
  static of(bytes: Buffer): JsonScan {
    const scan = new JsonScan(bytes, reused);
    scan.#run(Infinity);
    reused.clear();
    return scan;
  }

  /** Starts a scan that `next` continues. */
  static begin(bytes: Buffer): JsonScan {
    return new JsonScan(bytes, new OpenContainers());
  }

  /**
   * Continues after the first comma at or after `until` within an object or list; returns false if there is none, after the end or at
   * malformed text.
   */
  next(until: number): boolean {
    return this.#run(until);
  }

  /** True if the container at a depth (from 1) is an object. */
  isObject(depth: number): boolean {
    return this.open.bases[depth]! >= 0;
  }

  /** Returns the current key of the open object at a depth as JSON.parse reads it, including lone surrogates. */
  keyAt(depth: number): string {
    return keyText(this.bytes, this.open, this.open.indexes[depth]!);
  }

  #run(until: number): boolean {
    const { bytes, open } = this;
    const { bases, indexes, keySets } = open;
    let { keyStart, keyEnd, keyHash } = open;
    const length = bytes.length;
    let allBytes = this.#allBytes;
    let depth = this.depth;
    let top = this.#keys;
    let openSets = this.#openSets;
    let expectKey = this.#expectsKey;
    let i = this.at;
    let paused = false;
    let lowest = depth;
    scanning: while (i < length) {
      const c = bytes[i++]!;
      if (c === quoteMark) {
        if (!expectKey) {
          for (;;) {
            if (i >= length) break scanning;
            const b = bytes[i++]!;
            if (b === quoteMark) break;
            allBytes |= b;
            if (b !== backslash) continue;
            if (bytes[i] === 0x75 && (bytes[i + 1]! | 0x20) === 0x64) this.surrogates = true;
            i++;
          }
          continue;
        }
        const start = i;
        let odd = 0;
        for (;;) {
          if (i >= length) break scanning;
          const b = bytes[i++]!;
          if (b === quoteMark) break;
          odd |= b;
          if (b !== backslash) continue;
          odd |= 0x100;
          if (bytes[i] === 0x75 && (bytes[i + 1]! | 0x20) === 0x64) this.surrogates = true;
          i++;
        }
        allBytes |= odd;
        expectKey = false;
        const end = i - 1;
        const base = bases[depth]!;
        const hash = end > start ? ((end - start) << 16) | (bytes[start]! << 12) | (bytes[(start + end) >> 1]! << 6) | bytes[end - 1]! : 0;
        if (top >= keyStart.length) {
          open.growKeys(keyStart.length * 2);
          ({ keyStart, keyEnd, keyHash } = open);
        }
        keyStart[top] = start;
        keyEnd[top] = end;
        keyHash[top] = hash;
        indexes[depth] = top;
        let set = openSets > 0 ? keySets[depth] : undefined;
        if (set === undefined && (odd > 0x7f || top - base >= setFrom)) {
          set = new Set();
          for (let k = base; k < top; k++) set.add(keyText(bytes, open, k).toWellFormed());
          keySets[depth] = set;
          openSets++;
        }
        top++;
        if (set !== undefined) {
          const key = keyText(bytes, open, top - 1).toWellFormed();
          if (set.has(key)) this.#report(depth, start);
          else set.add(key);
        } else {
          for (let k = base; k < top - 1; k++) {
            if (keyHash[k] === hash && sameBytes(bytes, keyStart[k]!, keyEnd[k]!, start, end)) {
              this.#report(depth, start);
              break;
            }
          }
        }
      } else if (c === 0x2c) {
        if (bases[depth]! >= 0) expectKey = depth > 0;
        else indexes[depth] = indexes[depth]! + 1;
        if (i >= until && depth > 0) {
          paused = true;
          break;
        }
      } else if (c === 0x3a || c === 0x20 || c === 0x0a) {
        // Nothing to record.
      } else if (c === 0x7b || c === 0x5b) {
        depth++;
        if (depth > maxNestingDepth) {
          this.tooDeep = true;
          break;
        }
        indexes[depth] = 0;
        bases[depth] = c === 0x7b ? top : -1;
        expectKey = c === 0x7b;
      } else if (c === 0x7d || c === 0x5d) {
        if (depth === 0) break;
        if (bases[depth]! >= 0) {
          top = bases[depth]!;
          if (openSets > 0 && keySets[depth] !== undefined) {
            keySets[depth] = undefined;
            openSets--;
          }
        }
        depth--;
        if (depth < lowest) lowest = depth;
        expectKey = false;
      } else if ((c >= 0x30 && c <= 0x39) || c === 0x2d) {
        const start = i - 1;
        let fraction = false;
        while (i < length) {
          const b = bytes[i]!;
          if (b >= 0x30 && b <= 0x39) i++;
          else if (b === 0x2e || b === 0x65 || b === 0x45 || b === 0x2b || b === 0x2d) {
            fraction = true;
            i++;
          } else break;
        }
        if ((fraction || i - start >= 16) && !expectKey) this.#noteNumber(start, i);
      }
    }
    this.ascii = (allBytes & 0x80) === 0;
    this.#allBytes = allBytes;
    this.depth = depth;
    this.lowest = lowest;
    this.#keys = top;
    this.#openSets = openSets;
    this.#expectsKey = expectKey;
    this.at = i;
    return paused;
  }

  #report(depth: number, start: number): void {
    this.repeatedKeys ??= [];
    if (this.repeatedKeys.length < maxRepeatedKeys) this.repeatedKeys.push(start);
    // Building a path takes time linear in the depth: a body of duplicate keys must not multiply that.
    if (++this.#repeated > 2 * maxReported) return;
    const at = this.#path(depth);
    this.duplicates ??= [];
    if (this.duplicates.length < maxReported && !this.duplicates.includes(at)) this.duplicates.push(at);
  }

  #noteNumber(start: number, end: number): void {
    const literal = this.bytes.toString('latin1', start, end);
    // JSON.parse reports all other errors.
    if (!numberForm.test(literal)) return;
    if (isOddLiteral(literal)) {
      this.hasFloats = true;
      this.oddNumbers.push(start, end);
      if (!Number.isFinite(Number(literal))) this.overflow ??= literal;
    } else if (isLongInteger(literal)) this.oddNumbers.push(start, end);
  }

  /** Returns the path of the scan: `spec.containers[0].name`. */
  #path(depth: number): string {
    let text = '';
    for (let d = 1; d <= depth; d++) {
      if (!this.isObject(d)) text += `[${this.open.indexes[d]}]`;
      else text += `${text && '.'}${this.keyAt(d).toWellFormed()}`;
    }
    return text;
  }
}

function sameBytes(bytes: Buffer, aStart: number, aEnd: number, bStart: number, bEnd: number): boolean {
  if (aEnd - aStart !== bEnd - bStart) return false;
  for (let a = aStart, b = bStart; a < aEnd; a++, b++) if (bytes[a] !== bytes[b]) return false;
  return true;
}

/** Returns the unescaped key at an index of the key stack. */
function keyText(bytes: Buffer, { keyStart, keyEnd }: OpenContainers, at: number): string {
  const text = bytes.toString('utf8', keyStart[at]!, keyEnd[at]!);
  if (!text.includes('\\')) return text;
  try {
    return JSON.parse(`"${text}"`) as string;
  } catch {
    // Malformed JSON: JSON.parse rejects the document.
    return text;
  }
}
