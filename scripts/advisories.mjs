// Fails if a package that the server runs with has a known advisory. The advisories are the registry's: where it has none to
// give, or is out of reach, the script prints why and does not fail.
import { spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Judges the JSON output of `npm audit`. Throws for anything that is neither a report nor the answer of a registry that
 * could not be asked: a missing lock file, say, must not pass for an unreachable registry.
 * @param {string} output
 * @returns {{ readonly verdict: 'none' | 'found' | 'unreachable', readonly lines: readonly string[] }}
 */
export function judge(output) {
  const report = parse(output);
  if (isObject(report.vulnerabilities)) {
    const found = Object.values(report.vulnerabilities).flatMap(describe);
    if (found.length === 0) return { verdict: 'none', lines: ['no dependency has a known advisory'] };
    return { verdict: 'found', lines: [...new Set(found)] };
  }
  // npm prints the failed request itself; its other errors stand in `error`.
  if (typeof report.message === 'string')
    return { verdict: 'unreachable', lines: [`not checked: the registry gives no advisories: ${report.message}`] };
  throw new Error(`npm audit failed: ${report.error?.summary || report.error?.code || output.trim()}`);
}

function parse(output) {
  try {
    const report = JSON.parse(output);
    if (isObject(report)) return report;
  } catch {
    // The text stands in the error.
  }
  throw new Error(`npm audit printed no report: ${output.trim() || 'nothing'}`);
}

/** A line for each advisory of a package; for one that only depends on such packages, a line with their names. */
function describe({ name, severity, range, via }) {
  return via.map((cause) =>
    typeof cause === 'string'
      ? `${name} ${range} (${severity}) depends on ${cause}`
      : `${name} ${cause.range} (${cause.severity}): ${cause.title} ${cause.url}`,
  );
}

function isObject(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function audit() {
  const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
  const script = process.env.npm_execpath;
  const [command, first] = script?.endsWith('.js') ? [process.execPath, [script]] : ['npm', []];
  const args = ['audit', '--omit=dev', '--json', '--fetch-retries=1', '--fetch-timeout=30000'];
  const { stdout, error } = spawnSync(command, [...first, ...args], { cwd: root, encoding: 'utf8', maxBuffer: 1 << 26 });
  if (error) throw new Error(`npm cannot be run: ${error.message}`);
  return judge(stdout);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const { verdict, lines } = audit();
    console.log(lines.map((line) => `advisories: ${line}`).join('\n'));
    process.exitCode = verdict === 'found' ? 1 : 0;
  } catch (error) {
    console.error(`advisories: ${error.message}`);
    process.exitCode = 1;
  }
}
