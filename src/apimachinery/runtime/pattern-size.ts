/** Units of a Unicode class (`\pL`), whose tables have hundreds of ranges. */
const unicodeClassUnits = 100;
/** Units of a class beyond ASCII in a pattern that ignores case: each of its characters is looked up. */
const foldedClassUnits = 1_500;
/** Number of units that are compiled in about 10 ms. */
const manyUnits = 3_000;
/** Length of texts that are matched in about 20 ms. */
const longText = 65_536;
/** Product of units and length of the text, each pair of which may be a step of the match. */
const manySteps = 4_000_000;

/** Escapes, classes, groups, repetitions and other characters of a pattern. */
const parts =
  /\\Q[\s\S]*?(?:\\E|$)|\\[pP]|\\[\s\S]|\[\^?\]?(?:\\[\s\S]|\[:\^?\w+:\]|[^\]\\])*(?:\]|\\?$)|[()]|\{(\d{1,4})(?:,(\d{0,4}))?\}|[\s\S]/g;
const unicodeClass = /\\[pP]/g;

/**
 * Estimates the work to compile a pattern: about the number of its characters after repetitions are expanded, where classes weigh more.
 *
 * Example: `^a{3}(?:b[0-9]{2}){10}$` is 1 + 3 + 10 × (1 + 5 × 2) + 1 units.
 */
export function patternUnits(pattern: string): number {
  if (pattern.length > manyUnits) return pattern.length;
  const ignoresCase = /\(\?\w*i/.test(pattern);
  /** Units of the open groups, the innermost last. */
  const groups = [0];
  let last = 0;
  for (const [part, least, most] of pattern.matchAll(parts)) {
    const group = groups.length - 1;
    if (part === '(') {
      groups.push(0);
      last = 0;
    } else if (part === ')') {
      last = groups.length > 1 ? groups.pop()! : 0;
      groups[groups.length - 1]! += last;
    } else if (least !== undefined) {
      const times = Number(most || least);
      groups[group]! += last * Math.max(0, times - 1);
      last *= Math.max(1, times);
    } else {
      last = unitsOf(part, ignoresCase);
      groups[group]! += last;
    }
  }
  return groups.reduce((sum, units) => sum + units, 0);
}

function unitsOf(part: string, ignoresCase: boolean): number {
  if (part.length === 1) return 1;
  if (!part.startsWith('[')) return part === '\\p' || part === '\\P' ? unicodeClassUnits : part.length;
  const factor = ignoresCase ? 2 : 1;
  const unicode = (part.match(unicodeClass)?.length ?? 0) * unicodeClassUnits * factor;
  return part.length + unicode + (ignoresCase && /\\[xpPDWS]|[\u0080-\uffff]/.test(part) ? foldedClassUnits : 0);
}

/** True if compiling a pattern of these units, or matching it with a text of this length, may take longer than a chunk of work. */
export function takesLong(units: number, textLength: number): boolean {
  return units > manyUnits || textLength > longText || units * textLength > manySteps;
}
