import { formatTime } from '#apimachinery/runtime/time';
import type { DebuggingPage } from './debugging-page.ts';

export interface ProcessVersions {
  readonly runtime: string;
  /** Version without the leading `v`. */
  readonly binary: string;
  readonly emulation: string;
}

/** Root segments of paths that are not debugging pages. */
const otherRoots = new Set(['apis', 'api', 'openid', 'openapi', '.well-known']);

/** Uptime, version and available paths of the process. Upstream: apiserver/pkg/server/statusz. */
export class Statusz implements DebuggingPage {
  readonly name = 'statusz';
  readonly kind = 'Statusz';
  readonly #startedAt = Math.floor(Date.now() / 1_000 - process.uptime()) * 1_000;

  constructor(
    private readonly versions: ProcessVersions,
    /** Returns the paths listed at `/`. */
    private readonly listed: () => Iterable<string>,
  ) {}

  fields(): object {
    return {
      startTime: formatTime(this.#startedAt),
      uptimeSeconds: this.#uptime(),
      goVersion: this.versions.runtime,
      binaryVersion: this.versions.binary,
      emulationVersion: this.versions.emulation,
      paths: rootsOf(this.listed()),
    };
  }

  text(delimiter: string): string {
    const up = this.#uptime();
    const two = (value: number): string => String(value).padStart(2, '0');
    return `
Started${delimiter} ${unixDate(this.#startedAt)}
Up${delimiter} ${Math.floor(up / 3_600)} hr ${two(Math.floor(up / 60) % 60)} min ${two(up % 60)} sec
Go version${delimiter} ${this.versions.runtime}
Binary version${delimiter} ${this.versions.binary}
Emulation version${delimiter} ${this.versions.emulation}
Paths${delimiter} ${rootsOf(this.listed()).join(' ')}
`;
  }

  #uptime(): number {
    return Math.max(0, Math.floor((Date.now() - this.#startedAt) / 1_000));
  }
}

/** Returns the distinct first segments of paths, sorted. */
function rootsOf(paths: Iterable<string>): string[] {
  const roots = new Set<string>();
  for (const path of paths) {
    const root = path.split('/')[1] ?? '';
    if (root !== '' && !otherRoots.has(root)) roots.add(`/${root}`);
  }
  return [...roots].sort();
}

/** Formats Go's time.UnixDate in UTC: `Sun Nov 22 06:02:46 UTC 2026`. */
function unixDate(at: number): string {
  const [weekday = '', day = '', month = '', year = '', time = ''] = new Date(at).toUTCString().replace(',', '').split(' ');
  return `${weekday} ${month} ${String(Number(day)).padStart(2)} ${time} UTC ${year}`;
}
