import { quote } from '#apimachinery/runtime/quote';
import { withoutTrailing } from '#apimachinery/runtime/trailing';

/** A file that a volume creates, and its source if the volume has several. */
export interface VolumeFile {
  readonly path: string;
  readonly source: string;
}

interface Seen {
  /** Index of the file. */
  readonly at: number;
  readonly text: string;
}

/** A path, and the files seen so far at it or below it. */
interface Place {
  /** The nearest ancestor path that belongs to a file. */
  readonly above: Place | undefined;
  readonly here: Seen[];
  readonly below: Seen[];
}

/**
 * Maximum number of warnings. Each has at least 40 characters, and upstream's filter keeps 4,096 characters of warnings per request
 * (apiserver/pkg/endpoints/filters/warning.go).
 */
const maxWarnings = 128;

/**
 * Returns files that overlap with another, each pair once, in order of comparison: `"a/b" with "a"`. Upstream compares all pairs, which
 * takes minutes for 100,000 files; here each path has a link to its nearest ancestor. Upstream: pkg/api/pod/warnings.go
 * (checkVolumeMappingForOverlap).
 *
 * Worked example for a, b/c, a/d and b: a/d finds its ancestor a; b finds b/c, which was recorded below b when it was seen.
 */
export function overlappingPaths(files: readonly VolumeFile[]): string[] {
  const paths = files.map(({ path }) => withoutTrailing(path, '/'));
  const places = placesOf(paths);
  const overlaps = new Set<string>();
  for (const [at, { source }] of files.entries()) {
    const path = paths[at]!;
    const place = places.get(path);
    if (!place) continue;
    const text = source ? `${quote(path)} (${source})` : quote(path);
    for (const other of related(place)) {
      overlaps.add(`${text} with ${other.text}`);
      if (overlaps.size === maxWarnings) return [...overlaps];
    }
    if (place.here.some((seen) => seen.text === text)) continue;
    const seen = { at, text };
    place.here.push(seen);
    for (let upper = place.above; upper; upper = upper.above) upper.below.push(seen);
  }
  return [...overlaps];
}

/** Returns the files seen at a place, above and below it, in order. */
function related(place: Place): readonly Seen[] {
  const found = [...place.here, ...place.below];
  for (let upper = place.above; upper; upper = upper.above) found.push(...upper.here);
  return found.length > 1 ? found.sort((a, b) => a.at - b.at) : found;
}

/** Returns the places by path. An empty path has none, since it overlaps with nothing. */
function placesOf(paths: readonly string[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  // Shorter paths come first, so that ancestors exist before their descendants.
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
