import { quote } from '#apimachinery/runtime/quote';
import { withoutTrailing } from '#apimachinery/runtime/trailing';

/** A file that a volume makes, and what it comes from where a volume has several sources. */
export interface VolumeFile {
  readonly path: string;
  readonly source: string;
}

interface Seen {
  /** Which of the files it is. */
  readonly at: number;
  readonly text: string;
}

/** A path, and the files seen so far that are there or below it. */
interface Place {
  /** The nearest path above it that is one of a file, too. */
  readonly above: Place | undefined;
  readonly here: Seen[];
  readonly below: Seen[];
}

/**
 * Of a warning for each, which have 40 characters at least, no more are ever sent: upstream's filter takes 4,096 characters of all warnings of a request
 * (apiserver/pkg/endpoints/filters/warning.go).
 */
const mostTold = 128;

/**
 * Which files are where another is, or below it: `"a/b" with "a"`, each once, in the order in which each is compared with all before it. Upstream compares
 * them so, which of 100,000 files takes minutes; here each knows the places above it. Upstream: pkg/api/pod/warnings.go (checkVolumeMappingForOverlap).
 *
 * Worked example, of a, b/c, a/d and b: a/d finds a above it; b finds b/c, which when it was seen was noted as below b.
 */
export function overlappingPaths(files: readonly VolumeFile[]): string[] {
  const paths = files.map(({ path }) => withoutTrailing(path, '/'));
  const places = placesOf(paths);
  const told = new Set<string>();
  for (const [at, { source }] of files.entries()) {
    const path = paths[at]!;
    const place = places.get(path);
    if (!place) continue;
    const text = source ? `${quote(path)} (${source})` : quote(path);
    for (const other of related(place)) {
      told.add(`${text} with ${other.text}`);
      if (told.size === mostTold) return [...told];
    }
    if (place.here.some((seen) => seen.text === text)) continue;
    const seen = { at, text };
    place.here.push(seen);
    for (let upper = place.above; upper; upper = upper.above) upper.below.push(seen);
  }
  return [...told];
}

/** What was seen at a place, above and below it, the first first. */
function related(place: Place): readonly Seen[] {
  const found = [...place.here, ...place.below];
  for (let upper = place.above; upper; upper = upper.above) found.push(...upper.here);
  return found.length > 1 ? found.sort((a, b) => a.at - b.at) : found;
}

/** By path; none for an empty one, which overlaps with nothing. */
function placesOf(paths: readonly string[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  // Shorter ones first, so that what is above is there. Only where there are paths may one be above.
  const distinct = [...new Set(paths)].filter((path) => path !== '').sort((a, b) => a.length - b.length);
  const lengths = new Set(distinct.map(({ length }) => length));
  for (const path of distinct) places.set(path, { above: nearestAbove(path, lengths, places), here: [], below: [] });
  return places;
}

function nearestAbove(path: string, lengths: ReadonlySet<number>, places: ReadonlyMap<string, Place>): Place | undefined {
  for (let at = path.lastIndexOf('/'); at > 0; at = path.lastIndexOf('/', at - 1)) {
    const above = lengths.has(at) ? places.get(path.slice(0, at)) : undefined;
    if (above) return above;
  }
  return undefined;
}
